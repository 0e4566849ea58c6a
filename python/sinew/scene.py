"""Scenes from files."""
from . import _core
from .context import default_context


@_core.register
class Scene(_core.Scene):
    """A scene that was read and built: a world with its scripted motions, probes and loads."""

    def run(self, seconds=None, each=None):
        """Steps until the scene ends, or for `seconds`. Returns the report of the last step."""
        until = None if seconds is None else self.world.time + seconds - 1e-9
        report = None
        while not self.has_ended if until is None else self.world.time < until:
            report = self.step()
            if each:
                each(report)
        return report

    @property
    def bodies(self):
        """The bodies by name."""
        return {self.get_body_name(index): self.get_body(index) for index in range(self.body_count)}

    def probe(self, name):
        """The present state of a probe: position, strain, stress."""
        index = self.find_probe(name)
        if index < 0:
            names = ", ".join(self.get_probe_name(i) for i in range(self.probe_count)) or "none"
            raise _core.NotFound(f"no probe is named {name!r}; there are: {names}")
        return self.read_probe(index)

    def picture(self, color="none", largest=0.0, **fields):
        """A picture of the scene as it is now. Keywords are the fields of PictureDef."""
        return self.render(color, largest, _core.PictureDef(**fields))


def load(path, settings=(), context=None):
    """Reads a scene and builds it. `settings` are changes such as "materials.gel.young=2e5"."""
    context = context or default_context()
    text = context.bytes_create()
    mistakes = _core.SceneMistakes(text=text)
    try:
        scene = context.scene_load(path, _core.SceneReadDef(settings=list(settings)), mistakes)
        scene.build(mistakes)
    except _core.Error as error:
        lines = text.data.decode("utf-8", "replace").strip()
        if lines:
            raise type(error)(f"{error}\n{lines}") from None
        raise
    return scene
