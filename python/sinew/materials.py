"""Materials: a law by name or written in Python, and its constants."""
from . import _core
from .context import default_context


def material(law=None, context=None, **fields):
    """A material by the name of a law ("corotational", "neo-hookean", ...) or of a preset ("rubber", ...), with changes.

        sinew.material("stable-neo-hookean", young=1e5, poisson=0.48)
        sinew.material("rubber", density=1100)
        sinew.material(my_law)     # a function (F, axes, order) -> (energy, stress, tangent)

    `order` says what is needed: 0 the energy, 1 the stress too, 2 the tangent too; the rest may be None.
    """
    definition = _core.MaterialDef()
    if callable(law):
        definition.law = "custom"
        definition.custom.evaluate = law
    elif law:
        context = context or default_context()
        presets = {preset.name for preset in _core.material_presets()}
        if law in presets:
            context.material_set_preset(law, definition)
        else:
            context.material_set_law(law, definition)
    for name, value in fields.items():
        setattr(definition, name, value)
    return definition


def check_law(law, F=(1.1, 0.2, 0, 0.1, 0.9, 0.05, 0, -0.1, 1.2), step=1e-6):
    """Largest relative errors of the stress and the tangent of a law written in Python, against central differences of its energy.

    Both are about 1e-8 if the law is right.
    """
    axes = _rows([1.0, 0, 0, 0, 1, 0, 0, 0, 1])
    F = [float(value) for value in F]

    def evaluate(at, order):
        energy, stress, tangent = law(_rows(at), axes, order)
        return energy, _flat(stress), _flat(tangent)

    _, stress, tangent = evaluate(F, 2)
    worst_stress = worst_tangent = 0.0
    stress_scale = max(map(abs, stress)) or 1.0
    tangent_scale = max(map(abs, tangent)) or 1.0
    for i in range(9):
        moved = [list(F), list(F)]
        moved[0][i] += step
        moved[1][i] -= step
        (up, stress_up, _), (down, stress_down, _) = evaluate(moved[0], 1), evaluate(moved[1], 1)
        worst_stress = max(worst_stress, abs((up - down) / (2 * step) - stress[i]) / stress_scale)
        for j in range(9):
            difference = (stress_up[j] - stress_down[j]) / (2 * step)
            worst_tangent = max(worst_tangent, abs(difference - tangent[9 * min(i, j) + max(i, j)]) / tangent_scale)
    return worst_stress, worst_tangent


def _rows(values):
    """Nine numbers as rows of three, as a law receives them."""
    return [list(values[3 * i:3 * i + 3]) for i in range(3)]


def _flat(values):
    if values is None:
        return [0.0] * 81
    flat = []
    for value in values:
        flat.extend(value if hasattr(value, "__len__") else [value])
    return [float(value) for value in flat]
