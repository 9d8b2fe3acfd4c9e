"""Measure explorers in a real JupyterLab: one change and a drag, against a bare slider and ``interact``.

Run ``python -m benchmarks.explorers [NAME ...]`` from the project's folder; it needs Chromium. For each
explorer one notebook is opened: a slider that only writes its number, the explorer, the same picture by
``ipywidgets.interact`` and pyplot, and, where there is one, the explorer's large case. All get the same keys
in the same run, on the explorer's first slider of many stops: where there are few, a drag has few pictures
to show. A change counts from the key to the last painted change, a drag from its last event. Figures are
medians in milliseconds; ``load`` is the machine's meanwhile: with more than one process per core all figures
but the kernel's own time (``cpu``, per change) say more about the others than about the explorer.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from bisect import bisect_left
from pathlib import Path
from statistics import median

import nbformat

from course_lib.show.controls import Number
from course_lib.show.explorers import all_explorers
from tests.browser.harness import NotebookPage, chromium
from tests.browser.lab import running_lab

CHANGES, DRAG, STOPS = 10, 100, 50

HEADS = (
    "cpu", "large", "bare", "change", "ratio", "interact", "times", "large", "drag bare", "drag", "pic/s",
    "load",
)  # fmt: skip
# Presets that are an explorer's large case.
LARGE = {"lifetimes": "128 层 × 512 个微批次", "pipeline": "64 个阶段，512 个微批次"}

BARE = """
import ipywidgets
number, word = ipywidgets.IntSlider(50, 0, 200), ipywidgets.HTML("50")
number.observe(lambda change: setattr(word, "value", str(change["new"])), "value")
ipywidgets.VBox([number, word])
"""
OURS = "from {module} import {name}\n{name}()"
BIG = "large = {name}()\nlarge.set(**large.presets[{preset!r}])\nlarge"
INTERACT = """
import sys
from collections import namedtuple
import ipywidgets
import matplotlib.pyplot as plt
from course_lib.show.fonts import use_course_font
from course_lib.show.stage import _RC
import {module} as module

class Recipe:
    def __init__(self, **parts):
        self.__dict__.update(parts)

class Paper:
    def __init__(self, width, height):
        self.width, self.height = width, height
        self.figure = plt.figure(figsize=(width / 100, height / 100), dpi=200, layout="constrained")
        self.axes = self.figure.subplots
    def moves(self, *artists):
        return artists[-1]

use_course_font()
kept, module.Explorer = module.Explorer, Recipe
recipe, module.Explorer = module.{name}(), kept
book = {{control.name: control.book for control in recipe.controls}}
first = next(control for control in recipe.controls if control.name == {slider!r})

@ipywidgets.interact(place=(0, len(first.stops) - 1))
def draw(place=list(first.stops).index(first.book) if first.book in first.stops else 0):
    inputs = namedtuple("Inputs", book)(**book | {{first.name: first.stops[place]}})
    result = recipe.compute(inputs)
    with plt.rc_context(_RC):
        recipe.picture(Paper(*getattr(recipe, "size", (760, 400))))(inputs, result)
        plt.show()
    print(recipe.sentence(inputs, result))
"""

# Notes the time of every key and pointer event, and of every paint that follows a change in a cell's output.
WATCH = """
() => {
  const seen = window.seen = {events: [], paints: []};
  const paint = () => requestAnimationFrame(() => { const channel = new MessageChannel();
      channel.port1.onmessage = () => seen.paints.push(performance.now()); channel.port2.postMessage(0) });
  const ours = node => node.closest && node.closest('.jp-OutputArea')
    && !node.closest('.noUi-target, .widget-readout');
  new MutationObserver(changes => changes.forEach(change => {
    const node = change.target.nodeType === 1 ? change.target : change.target.parentElement;
    if (!node || !ours(node)) return;
    const images = node.tagName === 'IMG' ? [node] : [...node.querySelectorAll('img')];
    if (change.type === 'attributes' && node.tagName !== 'IMG') return;
    images.length ? images.forEach(image => image.decode().then(paint, () => {})) : paint();
  })).observe(document.body, {subtree: true, childList: true, characterData: true, attributeFilter: ['src']});
  for (const kind of ['keydown', 'pointermove'])
    document.addEventListener(kind, event => seen.events.push(event.timeStamp), true);
}
"""
QUIET = """
async wait => { const begin = performance.now();
  while (performance.now() - begin < 4000) {
    const last = Math.max(begin, ...seen.paints);
    if (seen.paints.length && performance.now() - last > wait) break;
    await new Promise(done => setTimeout(done, 10)) }
  const noted = {events: [...seen.events], paints: [...seen.paints]};
  seen.events.length = seen.paints.length = 0;
  return noted }
"""


def one_change(page, handle) -> float:
    """Median time of a single change by keyboard."""
    handle.focus()
    times = []
    for number in range(CHANGES + 2):
        page.keyboard.press("ArrowRight" if number % 8 < 4 else "ArrowLeft")
        noted = page.evaluate(QUIET, 300)
        if noted["paints"]:
            times.append(noted["paints"][-1] - noted["events"][0])
    return median(times[2:] or [float("nan")])


def one_drag(page, handle) -> tuple[float, float]:
    """Time from the last event of a drag to the last picture, and pictures per second during it."""
    handle.scroll_into_view_if_needed()
    knob = handle.bounding_box()
    track = handle.evaluate_handle("knob => knob.closest('.noUi-base')").as_element().bounding_box()
    x, y = knob["x"] + knob["width"] / 2, knob["y"] + knob["height"] / 2
    goal = track["x"] + track["width"] * (0.9 if x < track["x"] + track["width"] / 2 else 0.1)
    page.mouse.move(x, y)
    page.mouse.down()
    page.evaluate("() => { seen.events.length = seen.paints.length = 0 }")
    for step in range(1, DRAG + 1):
        page.mouse.move(x + (goal - x) * step / DRAG, y)
    page.mouse.up()
    noted = page.evaluate(QUIET, 1000)
    events, paints = noted["events"], noted["paints"]
    during = [paint for paint in paints if paint <= events[-1]]
    last = paints[-1] if paints else float("nan")
    return last - events[-1], 1000 * len(during) / max(events[-1] - events[0], 1)


def cells(maker, slider: str) -> list[str]:
    """Return the sources of the cells."""
    names = {"module": maker.__module__, "name": maker.__name__, "slider": slider}
    large = LARGE.get(maker.__name__)
    last = [BIG.format(**names, preset=large)] if large else []
    return [BARE, OURS.format(**names), INTERACT.format(**names), *last]


def write(maker, slider: str, folder: Path) -> Path:
    """Write the notebook that compares one explorer."""
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = nbformat.v4.new_notebook(metadata={"kernelspec": kernel})
    notebook.cells = [nbformat.v4.new_code_cell(source.strip()) for source in cells(maker, slider)]
    path = folder / f"{maker.__name__}.ipynb"
    nbformat.write(notebook, path)
    return path


def slider_of(maker) -> tuple[int, str]:
    """Return place and name of the first slider with many stops, else of the one with the most."""
    sliders = [control for control in maker().controls if isinstance(control, Number)]
    best = max(sliders, key=lambda control: min(len(control.stops), STOPS), default=None)
    return (sliders.index(best), best.name) if best else (0, "")


def cpu(maker, slider: str, preset: str = "") -> float:
    """Median time that the kernel itself works on a change, without a browser: the same on a busy machine."""
    explorer = maker()
    explorer.set(**explorer.presets.get(preset, explorer.book))
    stops, times = explorer.knobs[slider].control.stops, []
    middle = min(bisect_left(stops, getattr(explorer.inputs, slider)), len(stops) - 6)
    for number in range(CHANGES):
        begin = time.thread_time()
        explorer.set(**{slider: stops[middle + number % 5]})
        times.append(1000 * (time.thread_time() - begin))
    return median(times)


def measure(browser, lab, path: Path, place: int) -> tuple[float, ...]:
    """Open one notebook and return its figures; ``place`` is that of the slider moved."""
    notebook = NotebookPage.open(browser, lab, path.name)
    notebook.run_all()
    notebook.page.evaluate(WATCH)
    outputs = notebook.page.query_selector_all(".jp-OutputArea-output")
    found = [each for each in (output.query_selector_all(".noUi-handle") for output in outputs) if each]
    bare, ours, interact, *large = [each[place if len(each) > place else 0] for each in found]
    single = [one_change(notebook.page, handle) for handle in (bare, ours, interact, *large)]
    (settle, _), (settled, rate) = [one_drag(notebook.page, handle) for handle in (bare, ours)]
    notebook.close()
    change, nothing = single[1], float("nan")
    times = (single[0], change, change / single[0], single[2], single[2] / change)
    return (*times, single[3] / change if large else nothing, settle, settled, rate, os.getloadavg()[0])


def main(wanted: list[str]) -> None:
    """Measure the named explorers, or all."""
    makers = [maker for maker in all_explorers() if not wanted or maker.__name__ in wanted]
    sliders = {maker: slider_of(maker) for maker in makers}
    print(f"{'explorer':18} {'slider':16}" + "".join(f"{head:>10}" for head in HEADS))
    with tempfile.TemporaryDirectory() as folder:
        paths = {maker: write(maker, name, Path(folder)) for maker, (_, name) in sliders.items() if name}
        with running_lab(list(paths.values())) as lab, chromium() as browser:
            for maker, path in paths.items():
                place, name = sliders[maker]
                large = LARGE.get(maker.__name__)
                kernel = cpu(maker, name), cpu(maker, name, large) if large else float("nan")
                figures = (*kernel, *measure(browser, lab, path, place))
                print(f"{path.stem:18} {name:16}" + "".join(f"{each:10.2f}" for each in figures), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
