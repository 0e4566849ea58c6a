# The Python module: everything public is there, misuse raises, nothing outlives what it belongs to, arrays are not copied.
import gc
import os
import pickle
import re
import subprocess
import sys
import threading
import time
import tracemalloc
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("SINEW_BUILD", os.path.join(ROOT, "build"))
sys.path.insert(0, os.path.join(BUILD, "python"))
sys.path.append(os.path.join(ROOT, "python"))

try:
    import sinew
    from sinew import _core
except ImportError as error:
    print(f"skipped: the Python module is not built here ({error})")
    sys.exit(77)

try:
    import numpy
except ImportError:
    numpy = None

import lengths  # noqa: E402  of python/
from headers import read_headers  # noqa: E402

HEADERS = read_headers(os.path.join(ROOT, "include", "sinew"))


def make_bar():
    """A bar that is held at one end, in a world of its own."""
    world = sinew.World(step=0.01)
    bar = world.add_body(sinew.box(size=(1, 0.2, 0.2), cells=(6, 2, 2)), young=1e5)
    bar.fix(lambda x, y, z: x < -0.499)
    return world, bar


class Everything(unittest.TestCase):
    """The module is generated from the headers; nothing of them is missing."""

    def test_functions(self):
        there = "\n".join(name for kind in [_core] + [value for value in vars(_core).values() if isinstance(value, type)] for name in dir(kind))
        names = set(there.split())
        for name in HEADERS.functions:
            rest = name[6:]
            if name in lengths.FUNCTIONS_LEFT_OUT or rest.endswith(("_destroy", "_close")) or rest.startswith("default_"):
                continue
            shorter = {rest, re.sub(r"^(frame|rigid|reduced)_body_", r"\1_", rest)} | {rest[len(kind[6:]) + 1:] for kind in HEADERS.opaque if rest.startswith(kind[6:] + "_")}
            shorter |= {re.sub(r"(^|_)get_", r"\1", word, count=1) for word in shorter} | {word + "_" for word in shorter}
            shorter |= {re.sub(r"(^|_)get_", r"\1", word, count=1) + "_" for word in shorter}
            self.assertTrue(shorter & names, name)

    def test_fields_have_their_unit_and_comment(self):
        for struct in HEADERS.structs.values():
            if struct.name in lengths.STRUCTS_LEFT_OUT:
                continue
            kind = getattr(_core, "".join(word.capitalize() for word in struct.name[6:].split("_")))
            for field in struct.fields:
                if field.name in lengths.LEFT_OUT.get(struct.name, ()):
                    continue
                name = field.name + "_" if field.name in ("from", "def") else field.name
                self.assertIn(name, kind.FIELDS, struct.name)
                self.assertEqual(kind.FIELDS[name][1], field.comment)
        self.assertEqual(sinew.MaterialDef.FIELDS["young"][0], "Pa")
        self.assertEqual(sinew.MaterialDef().young, 1e6)

    def test_enumerations(self):
        for enum in HEADERS.enums.values():
            kind = getattr(_core, "".join(word.capitalize() for word in enum.name[6:].split("_")))
            self.assertEqual(len(kind), len(enum.constants), enum.name)
        self.assertEqual(sinew.Element.HEX8, 3)

    def test_stubs_are_python(self):
        with open(os.path.join(BUILD, "python", "sinew", "_core.pyi"), encoding="utf-8") as file:
            compile(file.read(), "_core.pyi", "exec")


class Results(unittest.TestCase):
    def test_twins_of_the_c_examples_print_the_same(self):
        plain = [(name, []) for name in ("first", "frames", "rigid", "touch", "grain", "rig", "bones")]
        for name, arguments in plain + [("load", [os.path.join(ROOT, "examples", "bar.json")])]:
            program = os.path.join(BUILD, "examples", name)
            if not os.path.exists(program):
                self.skipTest("the C examples are not built")
            native = subprocess.run([program, *arguments], capture_output=True, text=True)
            environment = dict(os.environ, PYTHONPATH=os.path.join(BUILD, "python"))
            twin = subprocess.run([sys.executable, os.path.join(ROOT, "python", "examples", name + ".py"), *arguments], env=environment,
                                  capture_output=True, text=True)
            self.assertEqual(twin.stderr, "")
            self.assertEqual(native.stdout, twin.stdout, name)

    def test_snapshots_repeat_bit_by_bit_and_can_be_pickled(self):
        world, _ = make_bar()
        world.run(0.05)
        snapshot, then = world.take_snapshot(), world.hash
        world.run(0.05)
        later = world.hash
        world.restore_snapshot(pickle.loads(pickle.dumps(snapshot)))
        self.assertEqual(world.hash, then)
        world.run(0.05)
        self.assertEqual(world.hash, later)
        with self.assertRaises(TypeError):
            pickle.dumps(world)

    def test_own_law_gives_the_same_as_the_built_in_one(self):
        # psi = mu/2 |F - I|^2 is Hooke's law with lambda = 0 but for the skew part: use it in pure stretch, where they agree.
        def law(F, axes, order):
            D = [F[i][j] - (i == j) for i in range(3) for j in range(3)]
            return 1e5 / 2 * sum(d * d for d in D), [1e5 * d for d in D], [1e5 * (i == j) for i in range(9) for j in range(9)]

        stress, tangent = sinew.check_law(law)
        self.assertLess(stress, 1e-8)  # central differences of 1e-6: rounding of 1e-16 / 1e-6
        self.assertLess(tangent, 1e-8)
        world = sinew.World(gravity=(0, 0, 0))
        block = world.add_body(sinew.box(cells=(2, 2, 2)), material=law)
        block.set_positions([(1.1 * x, y, z) for x, y, z in block.rest_positions])
        self.assertAlmostEqual(block.measures.elastic_energy, 1e5 / 2 * 0.1 ** 2, delta=1e-6)

    def test_frames_are_driven_and_read(self):
        voxels = sinew.Voxels.from_solids(sinew.SolidDef(size=(1, 0.2, 0.2)), resolution=16)
        world = sinew.World()
        body = world.add_frames(voxels, [(-0.4, 0, 0), (0.4, 0, 0)], young=1e5)
        body.frame_hold(0, sinew.HOLD_ALL)
        world.run(0.1)
        (_, _, z), _ = body.frame_get_node(1)
        self.assertLess(z, -0.01)
        self.assertIs(body.frame_voxels, voxels)

    def test_rays_find_bodies(self):
        world, bar = make_bar()
        hit = world.cast((0, 0.01, 1), (0, 0, -1))
        self.assertIs(hit.body, bar)
        self.assertIsNone(world.cast((0, 0, 1), (0, 0, 1)))

    def test_what_a_ray_hit_can_be_grabbed(self):
        world, bar = make_bar()
        hand = _core.surface_hit_grab(world.cast((0.4, 0.01, 1), (0, 0, -1)), sinew.GrabDef(stiffness=500))
        hand.set_target((0.4, 0.01, 0.5))
        world.run(0.05)
        self.assertGreater(hand.force[2], 1)
        with self.assertRaises(ValueError):
            _core.surface_hit_grab(sinew.SurfaceHit())
        bar.destroy()
        self.assertFalse(hand.alive)

    def test_scene(self):
        scene = sinew.load(os.path.join(ROOT, "examples", "bar.json"))
        self.assertIn("bar", scene.bodies)
        scene.run(0.05)
        self.assertAlmostEqual(scene.world.time, 0.05, delta=1e-9)
        picture = scene.picture(width=64, height=48)
        self.assertEqual(len(picture.pixels), 64 * 48)


class Misuse(unittest.TestCase):
    def test_after_destruction(self):
        world, bar = make_bar()
        positions = bar.positions
        world.destroy()
        world.destroy()  # a second time does nothing
        self.assertFalse(bar.alive)
        for call in (lambda: world.time, world.step, lambda: bar.positions, lambda: bar.add_traction([0], (0, 0, 1))):
            with self.assertRaises(sinew.DestroyedError):
                call()
        with self.assertRaises(ValueError):
            positions[0]
        with self.assertRaises(ValueError):
            memoryview(positions)

    def test_arrays_keep_memory_alive(self):
        world, bar = make_bar()
        view = memoryview(bar.positions)
        with self.assertRaises(BufferError):
            world.destroy()
        with self.assertRaises(BufferError):
            bar.destroy()
        del world, bar
        gc.collect()
        self.assertEqual(view[0, 0], -0.5)
        view.release()

    def test_attachments_end_with_their_bodies(self):
        world, bar = make_bar()
        tie = world.attach(sinew.AttachmentDef(body=bar, rest=(0.5, 0, 0), stiffness=100))
        tie.set_target((0.6, 0, 0))
        bar.destroy()
        with self.assertRaises(sinew.DestroyedError):
            tie.stiffness
        world.step()

    def test_what_others_need_is_not_destroyed(self):
        voxels = sinew.Voxels.from_solids(sinew.SolidDef(), resolution=6)
        world = sinew.World()
        body = world.add_frames(voxels, 1)
        with self.assertRaises(RuntimeError):
            voxels.destroy()
        del body
        gc.collect()
        with self.assertRaises(RuntimeError):  # the body lives as long as its world
            voxels.destroy()
        world.destroy()
        voxels.destroy()

    def test_wrong_types_shapes_and_numbers(self):
        world, bar = make_bar()
        count = bar.node_count
        cases = [
            (TypeError, lambda: bar.set_positions("abc")),
            (ValueError, lambda: bar.set_positions([0.0] * 5)),
            (TypeError, lambda: bar.set_positions(["x"] * 3 * count)),
            (sinew.InvalidArgument, lambda: bar.set_positions([float("nan")] * 3 * count)),
            (TypeError, lambda: bar.fix_nodes([0.5], 7)),
            (OverflowError, lambda: bar.fix_nodes([2 ** 40], 7)),
            (sinew.InvalidArgument, lambda: bar.fix_nodes([-1], 7)),
            (sinew.InvalidArgument, lambda: bar.compute_modes(-1)),
            (OverflowError, lambda: bar.compute_modes(2 ** 40)),
            (TypeError, lambda: world.body_create(sinew.WorldDef())),
            (TypeError, lambda: world.body_create()),
            (sinew.InvalidArgument, lambda: sinew.World(step=-1)),
            (AttributeError, lambda: sinew.WorldDef(stepp=1)),
            (ValueError, lambda: sinew.WorldDef(integrator="rk4")),
            (ValueError, lambda: sinew.WorldDef(gravity=(0, 0))),
            (TypeError, lambda: sinew.WorldDef(step="fast")),
            (ValueError, lambda: world.add_body(sinew.mesh([(0, 0, 0)] * 4, [(0, 1, 2, 3)], labels=[]))),
            (sinew.InvalidData, lambda: world.add_body(sinew.mesh([(0, 0, 0)] * 4, [(0, 1, 2, 3)]))),
            (sinew.Error, lambda: sinew.load("/nonexistent.json")),
            (TypeError, lambda: sinew.Body()),
        ]
        for error, call in cases:
            with self.subTest(error=error), self.assertRaises(error):
                call()
        world.step()

    def test_arrays_of_definitions_are_long_enough(self):
        world = sinew.World()
        with self.assertRaises(ValueError):
            world.add_body(sinew.box(cells=(1, 1, 1)), material_axes=[1.0] * 9)
        with self.assertRaises(ValueError):
            sinew.Mesh(points=[0.0] * 12, element="tet4", indices=[0, 1, 2], element_count=1).quality()

    def test_exceptions_in_callbacks_arrive(self):
        def bad(F, axes, order):
            raise KeyError("no such law")

        world = sinew.World()
        body = world.add_body(sinew.box(cells=(1, 1, 1)), material=bad)
        with self.assertRaises(KeyError):
            world.step()
        with self.assertRaises(KeyError):
            body.measures

        calls = []

        def progress(what, share):
            calls.append(what)
            return False

        context = sinew.Context(progress=progress)
        mesh = sinew.box(context=context, cells=(2, 2, 2))
        held = sinew.World(context=context)
        block = held.add_body(mesh)
        block.fix(lambda x, y, z: z < -0.4)
        with self.assertRaises(sinew.Cancelled):
            held.solve()
        self.assertTrue(calls)

    def test_one_context_per_thread(self):
        world = sinew.World()
        body = world.add_body(sinew.box(cells=(14, 14, 14)))
        body.fix(lambda x, y, z: z < -0.4)
        errors = []

        def disturb():
            for _ in range(2000):
                try:
                    world.time
                except RuntimeError as error:
                    errors.append(error)
                    return
                time.sleep(0.0005)

        other = threading.Thread(target=disturb)
        other.start()
        while other.is_alive() and not errors:
            world.step()
        other.join()
        self.assertTrue(errors, "steps let other threads run, which must not use the same context meanwhile")


class Batches(unittest.TestCase):
    @staticmethod
    def make(index, context):
        world = sinew.World(context=context)
        bar = world.add_body(sinew.box(size=(1, 0.2, 0.2), cells=(4, 1, 1), context=context), young=1e5 * (1 + index))
        bar.fix(lambda x, y, z: x < -0.499)
        return world

    def test_same_bits_as_one_by_one(self):
        batch = sinew.Batch(self.make, 5, threads=3)
        batch.step(7)
        for index, world in enumerate(batch):
            alone = self.make(index, sinew.Context())
            alone.run(0.07)
            self.assertEqual(alone.hash, world.hash)

    def test_scenes(self):
        path = os.path.join(ROOT, "examples", "bar.json")
        batch = sinew.Batch(path, settings=[["materials.gel.young=1e5"], ["materials.gel.young=4e5"]])
        batch.step(40)
        soft, stiff = (scene.probe("tip").displacement[2] for scene in batch)
        self.assertLess(soft, stiff)

    def test_misuse(self):
        world = sinew.World()
        for items in ([world, world], [world, sinew.World()], [1]):
            with self.assertRaises((ValueError, TypeError)):
                _core.step_all(items, 1, 2)
        world.step()  # nothing stays marked as in use
        destroyed = sinew.World()
        destroyed.destroy()
        with self.assertRaises(sinew.DestroyedError):
            _core.step_all([destroyed], 1, 1)


class Control(unittest.TestCase):
    def test_episodes_repeat(self):
        sys.path.append(os.path.join(ROOT, "python", "examples"))
        from arm import Arm
        arm = Arm()
        runs = []
        for _ in range(2):
            observation, info = arm.reset(seed=3)
            for _ in range(2):
                observation, reward, terminated, truncated, info = arm.step((20.0, 0.0, 0.0))
            runs.append((observation, reward, arm.world.hash))
        self.assertEqual(runs[0], runs[1])
        self.assertLess(reward, 0)


class Memory(unittest.TestCase):
    def test_nothing_leaks(self):
        def make():
            world, bar = make_bar()
            world.step()
            bar.positions
            world.take_snapshot()

        context = sinew.default_context()
        make()
        gc.collect()
        before = context.memory
        for _ in range(20):
            make()
        gc.collect()
        self.assertEqual(context.memory, before)

    def test_objects_leave_nothing_in_python(self):
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        kept = []  # tables have their size after this
        for _ in range(300):
            kept.append(sinew.World())
        del kept
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(3):
            kept = [sinew.World() for _ in range(300)]
            del kept
        gc.collect()
        self.assertLess(tracemalloc.get_traced_memory()[0] - before, 5000)  # 900 worlds; less than a word each

    def test_cycles_through_callbacks_are_collected(self):
        context = sinew.default_context()
        gc.collect()
        before = context.memory

        class Law:
            def __call__(self, F, axes, order):
                return 0.0, [0.0] * 9, [0.0] * 81

        law = Law()
        law.world = sinew.World()
        law.world.add_body(sinew.box(cells=(1, 1, 1)), material=law)
        del law
        gc.collect()
        self.assertEqual(context.memory, before)


@unittest.skipIf(numpy is None, "numpy is not installed")
class Numpy(unittest.TestCase):
    def test_no_copy(self):
        world, bar = make_bar()
        positions = numpy.asarray(bar.positions)
        self.assertEqual(positions.shape, (bar.node_count, 3))
        before = positions.copy()
        world.step()
        self.assertFalse(numpy.array_equal(before, positions))  # it shows the present state
        with self.assertRaises(ValueError):
            positions[0, 0] = 1

    def test_input(self):
        world, bar = make_bar()
        moved = numpy.asarray(bar.rest_positions) * 1.01
        bar.set_positions(moved)
        self.assertTrue(numpy.array_equal(bar.positions, moved))
        with self.assertRaises(TypeError):
            bar.set_positions(moved.astype(numpy.float32))
        with self.assertRaises(ValueError):
            bar.set_positions(moved[:, ::-1])

    def test_states_are_a_structured_array(self):
        world, bar = make_bar()
        world.step()
        states = numpy.asarray(bar.compute_element_states())
        self.assertEqual(states["stress"].shape, (bar.element_count, 6))
        self.assertEqual(states["J"][3], bar.get_element_state(3).J)


if __name__ == "__main__":
    unittest.main()
