"""Progress bars by tqdm, in terminals and notebooks."""

from collections.abc import Callable
from typing import Any

from .errors import DependencyError

Watcher = Callable[..., Any]
"""A function that is called some times a second while something is computed."""


class _Bar:
    """One bar, which begins anew for each stage: notebooks keep the place of every bar."""

    # Without a rate: that of a stage would be over the time of all of them.
    FORMAT = "{l_bar}{bar}| {n_fmt}/{total_fmt}{unit} [{elapsed}{postfix}]"
    FORMAT_WITHOUT_TOTAL = "{desc}{n_fmt}{unit} [{elapsed}{postfix}]"

    def __init__(self) -> None:
        try:
            from tqdm.auto import tqdm
        except ImportError as error:
            raise DependencyError("progress=True needs tqdm: pip install topostream[progress]") from error
        self._new = tqdm
        self._bar: Any = None
        self._key: object = None

    def show(self, key: object, text: str, position: int, total: int | None, unit: str) -> None:
        if self._bar is None:
            form = self._form(total)
            self._bar = self._new(
                desc=f"{text}: ", total=total, unit=unit, unit_scale=True, leave=False, bar_format=form
            )
        elif self._key != key:
            self._begin(text, total, unit)
        self._key = key
        self._bar.n = position
        self._bar.refresh()

    def _begin(self, text: str, total: int | None, unit: str) -> None:
        bar, started = self._bar, self._bar.start_t
        bar.unit, bar.total, bar.bar_format = unit, total, self._form(total)
        bar.set_description_str(f"{text}: ", refresh=False)
        bar.reset(total=total)
        # The time is that of the whole.
        bar.start_t = started

    def _form(self, total: int | None) -> str:
        return self.FORMAT_WITHOUT_TOTAL if total is None else self.FORMAT

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
        self._bar = None


class StageProgress(_Bar):
    """Shows the stages of a command, such as formatting."""

    def __call__(self, stage: str, position: int, total: int | None, unit: str) -> None:
        self.show(stage, stage, position, total, f" {unit}")


class RunProgress(_Bar):
    """Shows the supersteps of a run."""

    def __call__(
        self, superstep: int, done: int, pages: int, edges: int, disk_bytes: int, change: float | None
    ) -> None:
        self.show(superstep, f"superstep {superstep}", done, pages, " pages")
        if change is not None:
            self._bar.set_postfix_str(f"change {change:.1e}", refresh=False)


def watcher(progress: bool | Watcher, bar: Callable[[], Watcher]) -> Watcher | None:
    """The function to call: none, a new bar, or the caller's own."""
    if progress is True:
        return bar()
    return progress or None


def closed(watch: Watcher | None) -> None:
    """Closes a bar of this module."""
    if isinstance(watch, _Bar):
        watch.close()
