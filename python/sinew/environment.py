"""A simulation as an environment for control, with the calls of gymnasium. Gymnasium itself is not needed."""
import random

from . import _core


class Environment:
    """Base of environments: reset, step, render and close as in gymnasium.

    Override `make(self, random)`, which builds and returns a world; `act(self, action)`, which applies an action before a step;
    `observe(self)`, which returns numbers; and `score(self)`, which returns (reward, whether the episode has ended).
    `steps_per_action` steps follow each action; after `longest` actions an episode is cut off.
    """

    steps_per_action = 1
    longest = 200

    def make(self, generator):
        raise NotImplementedError

    def act(self, action):
        raise NotImplementedError

    def observe(self):
        raise NotImplementedError

    def score(self):
        raise NotImplementedError

    def reset(self, seed=None, options=None):
        """Begins an episode. The same seed gives the same episode, bit by bit."""
        if seed is not None or not hasattr(self, "random"):
            self.random = random.Random(seed)
        self.world = self.make(self.random)
        self.actions = 0
        return self.observe(), {}

    def step(self, action):
        """One action: (observation, reward, terminated, truncated, info). A world that diverges ends the episode."""
        self.act(action)
        info, diverged = {}, False
        try:
            for _ in range(self.steps_per_action):
                self.world.step()
        except _core.Diverged as error:
            diverged, info = True, {"diverged": str(error)}
        self.actions += 1
        reward, ended = self.score()
        return self.observe(), reward, bool(ended or diverged), self.actions >= self.longest, info

    def render(self, **fields):
        """The picture as an array of numpy, height by width by 3."""
        return self.world.render(**fields).array

    def close(self):
        self.world = None
