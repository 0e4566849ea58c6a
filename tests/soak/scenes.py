"""Random scenes that are valid: every model, law, integrator and solver, loads, supports, attachments, contact.

`make_scene(seed)` returns a scene that `sinew run` must accept, with moderate numbers: moduli from 1e4
to 1e9 Pa, steps from 1 to 40 ms, loads below 2 % of the modulus. `energy_bound(scene)` is an energy
that no correct run of it comes near.
"""
import math
import random

LAWS = ["linear", "st-venant-kirchhoff", "corotational", "neo-hookean", "stable-neo-hookean",
        "mooney-rivlin", "arruda-boyce", "orthotropic", "transverse"]
INTEGRATORS = ["implicit-euler", "newton-euler", "newmark", "midpoint", "bdf2"]
SOLVERS = ["auto", "auto", "jacobi", "incomplete-cholesky", "multigrid", "direct", "dense"]
MODELS = ["elastic"] * 4 + ["frames"] * 4 + ["warped", "positions"]


class Maker:
    """One scene. Everything random comes from one generator, so that a seed is a scene."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.seed = seed

    def chance(self, share):
        return self.random.random() < share

    def pick(self, words):
        return self.random.choice(words)

    def between(self, low, high):
        """Rounded, so that a scene can be read and typed in again."""
        return float(f"{self.random.uniform(low, high):.4g}")

    def log_between(self, low, high):
        return float(f"{math.exp(self.random.uniform(math.log(low), math.log(high))):.3g}")

    def direction(self):
        while True:
            v = [self.random.gauss(0, 1) for _ in range(3)]
            length = math.sqrt(sum(c * c for c in v))
            if length > 0.1:
                return [float(f"{c / length:.4g}") for c in v]

    def vector(self, length):
        return [float(f"{length * c:.4g}") for c in self.direction()]

    def rotation(self):
        return {"axis": self.direction(), "degrees": self.between(-180, 180)}

    def curve(self, size):
        kind = self.random.random()
        if kind < 0.4:
            return size
        if kind < 0.7:
            return {"sine": size, "period": self.between(0.2, 2)}
        return {"keys": [[0, 0], [self.between(0.05, 0.4), size]], "smooth": self.chance(0.5)}

    # ---- materials ----

    def material(self, model):
        law = self.pick(LAWS)
        if model in ("warped", "positions"):
            law = "corotational"
        young = self.log_between(1e4, 1e9)
        material = {"law": law, "young": young, "density": self.between(300, 3000)}
        if law in ("orthotropic", "transverse"):
            material["strain"] = self.pick(["infinitesimal", "green", "corotational"])
        if law == "orthotropic":
            del material["young"]
            for axis in (1, 2, 3):
                material[f"young_{axis}"] = young * self.between(0.3, 1)
            material["poisson"] = self.between(0, 0.3)
        elif law == "transverse":
            del material["young"]
            material.update(young_fibre=young, young_plane=young * self.between(0.1, 1), shear_fibre=young * self.between(0.05, 0.4))
        elif law == "mooney-rivlin":
            del material["young"]
            material.update(c10=young / 6 * self.between(0.5, 1), c01=young / 6 * self.between(0, 0.3), bulk=young * self.between(1, 10))
        elif law == "arruda-boyce":
            material.update(bulk=young * self.between(1, 10), chain_length=self.between(4, 20))
        else:
            material["poisson"] = self.between(0, 0.49)
        if law in ("linear", "corotational", "neo-hookean") and model == "elastic" and self.chance(0.2):
            material["volume_stiffness"] = young * self.between(0.1, 5)
        return material, young

    # ---- shapes ----

    def shape(self, model):
        size = [self.between(0.1, 1) for _ in range(3)]
        kind = self.pick(["box"] * 4 + ["cylinder", "sphere", "l"])
        if kind == "l":
            size = [max(size[0], 0.4), max(size[1], 0.2), max(size[2], 0.4)]
        shape = {"kind": kind, "size": size}
        self.kind = kind
        if kind == "l":
            shape["thickness"] = 0.15
        if model != "frames":
            elements = ["tet4"] * 3 + ["tet10", "hex8"] if model == "elastic" else ["tet4"]
            shape["element"] = self.pick(elements)
            shape["cell"] = max(size) / self.random.randint(2, 5)
        return shape, size

    def side(self, size, axis, upper):
        """A selection of one side of a box, or of the outer part of another shape on that side."""
        normal = [0, 0, 0]
        normal[axis] = 1 if upper else -1
        point = [0, 0, 0]
        point[axis] = normal[axis] * size[axis] * (0.49 if self.kind == "box" else 0.2)
        return {"plane": {"point": point, "normal": normal}}

    # ---- bodies ----

    def body(self, name, model):
        material, young = self.material(model)
        shape, size = self.shape(model)
        body = {"name": name, "model": model, "shape": shape, "material": material}
        self.young, self.size = young, size
        if self.chance(0.4):
            body["damping"] = {"mass": self.between(0, 2), "stiffness": self.between(0, 0.01)}
            if model == "positions":
                del body["damping"]
        rotates = material["law"] != "linear" and material.get("strain") != "infinitesimal"
        if self.chance(0.5):
            body["position"] = self.vector(self.between(0, 2))
        if rotates and self.chance(0.4):
            body["rotation"] = self.rotation()
        if self.chance(0.4):
            body["velocity"] = self.vector(self.between(0, 3))
        if rotates and self.chance(0.3):
            body["angular_velocity"] = self.vector(self.between(0, 6))
        if model == "frames":
            self.add_frames(body)
        elif model == "positions":
            body["positions"] = {"iterations": self.random.randint(2, 20), "mode": self.pick(["stiffness", "compliance"])}
        if model != "frames":
            self.add_supports(body)
        self.add_loads(body)
        return body

    def add_supports(self, body):
        axis = self.random.randrange(3)
        kind = self.random.random()
        if kind < 0.3:
            body["fixed"] = [self.side(self.size, axis, False)]
        elif kind < 0.45 and body["model"] != "positions": # which holds a node in all directions or none
            body["fixed"] = [{"where": self.side(self.size, a, False), "axes": "xyz"[a]} for a in range(3)]
        elif kind < 0.7:
            body["scripted"] = [{"where": self.side(self.size, axis, False), "motion": self.motion()}]

    def motion(self):
        amount = 0.1 * min(self.size)
        if self.chance(0.6):
            return {"translate": [self.curve(self.between(-amount, amount)) for _ in range(3)]}
        return {"rotate": {"axis": self.direction(), "degrees": {"sine": self.between(5, 60), "period": self.between(0.3, 2)}}}

    def add_frames(self, body):
        kind = self.pick(["rigid", "affine", "affine", "quadratic"])
        frames = {"resolution": self.random.randint(8, 16), "count": self.random.randint(1, 6), "kind": kind}
        weights = self.pick(["voronoi", "voronoi", "harmonic", "geodesic", "axis"])
        frames["weights"] = {"kind": weights, "adopt_unreached": True, "adopt_outside": True}
        if weights == "axis": # the frames must differ along the axis, so all are given
            frames["nodes"] = [{"position": [x * self.size[0] / 10, 0, 0]} for x in (-4, 0, 4)]
            frames["count"] = 3
            if self.kind == "l":
                body["shape"] = {"kind": "box", "size": self.size}
                self.kind = "box"
        if self.chance(0.3):
            frames["sampling"] = {"kind": "midpoint", "count": self.random.randint(50, 300)}
        if kind == "rigid" and self.chance(0.4):
            frames["blend"] = "dual-quaternion"
        if kind == "rigid" and "blend" not in frames and self.chance(0.2):
            frames["springs"] = True
        if self.chance(0.5) and self.kind != "l":
            frames.setdefault("nodes", [{"position": [0, 0, 0]}])
            frames["nodes"][0]["hold"] = self.pick(["all", "translation"]) if kind == "rigid" else "all"
            if self.chance(0.4):
                frames["nodes"][0]["motion"] = self.motion()
        body["frames"] = frames

    def add_loads(self, body):
        if body["model"] == "positions" or self.chance(0.4):
            return
        where = self.side(self.size, self.random.randrange(3), True)
        if body["shape"]["kind"] != "box":
            where = "surface"
        size = self.young * self.log_between(1e-6, 0.02)
        load = {"where": where, "scale": self.curve(1)}
        kind = self.pick(["traction", "pressure", "force"])
        if kind == "traction":
            load["traction"] = self.vector(size)
        elif kind == "pressure":
            load["pressure"] = size
        else:
            load["force"] = self.vector(size * self.size[0] * self.size[1])
        body["loads"] = [load]

    def scene(self):
        count = self.pick([1, 1, 1, 2, 3])
        scene = {"version": 1, "step": self.log_between(1e-3, 4e-2), "steps": self.random.randint(10, 40),
                 "integrator": self.pick(INTEGRATORS), "solver": {"kind": self.pick(SOLVERS)}, "bodies": []}
        if self.chance(0.2):
            scene["gravity"] = self.vector(self.between(0, 20))
        for index in range(count):
            scene["bodies"].append(self.body(f"body{index}", self.pick(MODELS)))
        if scene["solver"]["kind"] == "dense" and any(b["shape"].get("element") == "tet10" for b in scene["bodies"]):
            scene["solver"]["kind"] = "direct"  # thousands of unknowns: dense takes minutes
        self.add_attachments(scene)
        if self.chance(0.35):
            self.add_contact(scene)
        scene["probes"] = [{"name": "p", "body": "body0", "point": [0, 0, 0]}] if scene["bodies"][0]["shape"]["kind"] != "l" else []
        scene["output"] = {"formats": ["csv"]}
        if "contact" in scene:  # the last surfaces, for the count of intersections
            scene["output"] = {"formats": ["csv", "obj"], "every": scene["steps"]}
        return scene

    def add_contact(self, scene):
        """Puts the bodies beside or above one another without overlap, and something below them."""
        if scene["integrator"] not in ("implicit-euler", "newton-euler", "bdf2"):
            scene["integrator"] = self.pick(["implicit-euler", "newton-euler", "bdf2"])
        scene.pop("gravity", None)
        scene.pop("attachments", None)
        scene["steps"] = self.random.randint(20, 60)
        scene["contact"] = {"mode": self.pick(["interactive", "reliable"]), "bodies": self.chance(0.8), "self": self.chance(0.3),
                            "friction": self.pick([0, 0.3, 1])}
        stacked, top, along = self.chance(0.6), 0.0, 0.0
        for body in scene["bodies"]:
            radius = 0.55 * math.dist(body["shape"]["size"], [0, 0, 0])
            gap = self.between(0.01, 0.3)
            body["position"] = [self.between(-0.05, 0.05), 0, round(top + gap + radius, 4)] if stacked else \
                [round(along + radius, 4), 0, round(gap + radius, 4)]
            top += gap + 2 * radius
            along += 2 * radius + gap
            body["velocity"] = [self.between(-1, 1), 0, self.between(-4, 0)]
            for support in body.get("scripted", []):  # small motions, which do not reach the neighbours
                support["motion"] = {"translate": [{"sine": 0.002, "period": 0.5}, 0, 0]}
        if self.chance(0.8):
            scene["contact"]["ground"] = True
        else:
            kind = self.pick(["sphere", "box", "capsule", "plane"])
            obstacle = {"kind": kind, "position": [0, 0, 0 if kind == "plane" else -1.2]}
            if kind in ("sphere", "capsule"):
                obstacle["radius"] = 1
                obstacle["length"] = 0.15
            if kind == "box":
                obstacle["size"] = [4, 4, 2.2]
            if kind == "sphere":
                del obstacle["length"]
            scene["obstacles"] = [obstacle]

    def add_attachments(self, scene):
        bodies = scene["bodies"]
        if len(bodies) < 2 or self.chance(0.5):
            return
        if any(b["model"] not in ("elastic", "frames") for b in bodies[:2]):
            return
        stiffness = self.log_between(10, 1e6)
        tie = {"body": "body0", "stiffness": stiffness, "to": "body1", "at": [0, 0, 0]}
        if bodies[0]["model"] == "frames":
            tie["point"] = [0, 0, 0]
        else:
            tie["where"] = {"sphere": {"center": [0, 0, 0], "radius": 0.6 * max(bodies[0]["shape"]["size"])}}
        if all(b["shape"]["kind"] != "l" for b in bodies[:2]):
            scene["attachments"] = [tie]


def make_scene(seed):
    return Maker(seed).scene()


def energy_bound(scene):
    """A generous bound: everything moves as fast as gravity, loads and scripts together could make it,
    and is strained by as much as its own size, a hundred times over. [J]"""
    time = scene["step"] * scene["steps"]
    gravity = math.dist(scene.get("gravity", [0, 0, -9.81]), [0, 0, 0])
    total = 1.0
    for body in scene["bodies"]:
        material, size = body["material"], body["shape"]["size"]
        young = max(v for k, v in material.items() if k in ("young", "young_1", "young_2", "young_3", "young_fibre", "bulk", "c10", "volume_stiffness"))
        volume = size[0] * size[1] * size[2]
        mass = material["density"] * volume
        longest = max(size)
        speed = (math.dist(body.get("velocity", [0] * 3), [0] * 3) + longest * math.dist(body.get("angular_velocity", [0] * 3), [0] * 3)
                 + gravity * time + 40 * longest)
        for load in body.get("loads", []):
            area = 6 * longest * longest
            force = math.dist(load.get("force", [0] * 3), [0] * 3) + area * (load.get("pressure", 0) + math.dist(load.get("traction", [0] * 3), [0] * 3))
            speed += force / mass * time
        total += 0.5 * mass * speed * speed + 0.5 * 10 * young * volume
    if "contact" in scene:  # bodies may be thrown at one another by loads
        total *= 10
    for tie in scene.get("attachments", []):
        total += 0.5 * tie["stiffness"] * 100 * (2 + max(math.dist(b.get("position", [0] * 3), [0] * 3) for b in scene["bodies"])) ** 2
    return 100 * total
