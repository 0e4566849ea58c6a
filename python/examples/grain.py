"""Grain: a curve drawn through a bar says where its fibres run. Pulled at its end, a bar with straight fibres only stretches, less than
one without; with fibres that wind about its axis it twists as well."""
import math

import sinew

PI = 3.14159265358979
mesh = sinew.box(size=(1, 0.2, 0.2), cell_size=0.04)
context = sinew.default_context()


def create_field(radius, turns):
    """Eight curves on a cylinder about the x axis, each wound by `turns` from one end of the bar to the other, guide the fibres."""
    curves = []
    for c in range(8):
        points = []
        for i in range(25):
            t = i / 24
            angle = 2 * PI * (turns * t + c / 8)
            points.append((t - 0.5, radius * math.cos(angle), radius * math.sin(angle)))
        curves.append(sinew.CurveDef(kind="stroke", points=points))
    return context.field_create(sinew.FieldDef(mesh=mesh, kind="fibres", curves=curves))


def pull(material, field):
    """The bar in static balance, held at one end and pulled at the other with 20 kPa; the mean extension and twist of that end."""
    world = sinew.World(gravity=(0, 0, 0))
    body = world.add_body(mesh, material=material, material_axes=field.axes if field else None)
    body.fix(lambda x, y, z: x < -0.499)
    end = body.select(lambda x, y, z: x > 0.499)
    body.add_traction(end, (2e4, 0, 0))
    world.solve()
    extension = twist = 0.0
    for node in end:
        X, x = body.rest_positions[node], body.positions[node]
        extension += (x[0] - X[0]) / len(end)
        twist += math.atan2(X[1] * x[2] - X[2] * x[1], X[1] * x[1] + X[2] * x[2]) / len(end)
    return extension, twist


plain = sinew.material(young=1e5, poisson=0.3)
fibrous = sinew.material(young=1e5, poisson=0.3, law="transverse")  # as stiff across its fibres, ten times stiffer along them
fibrous.transverse = sinew.Transverse(young_fibre=1e6, young_plane=1e5, poisson_plane=0.3, poisson_fibre=0.3, shear_fibre=4e4)
for name, material, field in (("without fibres", plain, None), ("straight fibres", fibrous, create_field(0.07, 0)),
                              ("winding fibres", fibrous, create_field(0.07, 0.5))):
    extension, twist = pull(material, field)
    print(f"{name:16} longer by {1000 * extension:5.1f} mm, twisted by {180 / PI * twist:5.1f} degrees")
