"""A soft arm learns to reach a point: three rows of fibres contract, and random search finds by how much."""
import math
import random

import sinew

TARGET = (0.25, 0.0, -0.25)


class Arm(sinew.Environment):
    """An arm that hangs from the ceiling. An action sets the tension of three fibres along it, in kPa."""

    steps_per_action = 10
    longest = 8

    def make(self, generator):
        mesh = sinew.box(size=(0.1, 0.1, 0.4), center=(0, 0, -0.2), cells=(4, 4, 12))
        labels = [self.find_row(mesh, cell) for cell in mesh.cells]
        world = sinew.World(step=0.01)
        rows = [sinew.material(young=6e4, poisson=0.4, density=500) for _ in range(4)]
        mesh = sinew.mesh(list(mesh.points), [tuple(int(i) for i in cell) for cell in mesh.cells], labels=labels)
        self.arm = world.add_body(mesh, material=rows, material_labels=[0, 1, 2, 3], stiffness_damping=0.05)
        self.arm.fix(lambda x, y, z: z > -0.001)
        self.tip = self.arm.select(lambda x, y, z: z < -0.399 and abs(x) < 0.001 and abs(y) < 0.001)[0]
        return world

    def find_row(self, mesh, cell):
        """0 for the core, 1 to 3 for the rows of fibres at the sides."""
        x, y = (sum(mesh.points[int(i)][k] for i in cell) / len(cell) for k in (0, 1))
        if max(abs(x), abs(y)) < 0.025:
            return 0
        return 1 + int((math.atan2(y, x) + math.pi) / (2 * math.pi) * 3) % 3

    def act(self, action):
        for row, tension in enumerate(action):
            self.arm.set_fibre_stress(row + 1, 1e3 * max(0.0, tension))

    def observe(self):
        return self.arm.positions[self.tip]

    def score(self):
        return -math.dist(self.observe(), TARGET), False


def reach(action):
    """How far from the target the arm is after an episode with constant tensions."""
    environment = Arm()
    environment.reset(seed=0)
    ended = truncated = False
    reward = 0.0
    while not ended and not truncated:
        _, reward, ended, truncated, _ = environment.step(action)
    return -reward


if __name__ == "__main__":
    generator = random.Random(1)
    best, distance = (0.0, 0.0, 0.0), reach((0.0, 0.0, 0.0))
    print(f"at rest the tip is {100 * distance:.1f} cm from the target")
    for trial in range(24):
        action = tuple(max(0.0, value + generator.gauss(0, 12)) for value in best)
        found = reach(action)
        if found < distance:
            best, distance = action, found
            print(f"trial {trial + 1}: tensions of {', '.join(f'{value:.0f}' for value in best)} kPa bring it to {100 * distance:.1f} cm")
