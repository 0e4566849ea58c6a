// The statistics at the top of the panel.
import { element, make } from "./dom.ts";
import { digits, withUnit } from "./numbers.ts";
import type { Statistics } from "./protocol.ts";

const KEPT = 120;

export class StatisticsPanel {
  private elastic: number[] = [];
  private kinetic: number[] = [];
  private momentum: number[] = [];
  private lastTime = -1;

  clear(): void {
    this.elastic = [];
    this.kinetic = [];
    this.momentum = [];
    this.lastTime = -1;
  }

  show(s: Statistics, speed: number): void {
    const { report } = s;
    // Slower than asked for is said in plain sight.
    const slow = s.playing && s.rate < 0.95 * speed;
    element("rate").textContent = s.playing ? `${s.rate.toFixed(2)}×` : "paused";
    element("rate-note").textContent = s.playing ? (slow ? "real time: slower than asked" : "real time") : "";
    element("rate").parentElement!.classList.toggle("slow", slow);
    element("elastic").textContent = report.elastic === null ? "none" : withUnit(report.elastic, "J");
    element("kinetic").textContent = withUnit(report.kinetic, "J");
    const momentum = Math.hypot(...report.momentum);
    this.plot(report.time, report.elastic ?? 0, report.kinetic, momentum);
    const rows: [string, string][] = [
      ["Steps per second", s.playing ? digits(s.stepsPerSecond) : "–"],
      ["Time of a step", `${digits(1000 * report.total)} ms`],
      ["Forces", `${digits(1000 * report.assemble)} ms`],
      ["Solve", `${digits(1000 * report.solve)} ms`],
      ["Contact and rest", `${digits(1000 * Math.max(report.total - report.assemble - report.solve, 0))} ms`],
      ["Newton, solver", `${report.newton}, ${report.solver} iterations`],
      ["Momentum", withUnit(momentum, "N s")],
      ["Volume", `${((100 * report.volume) / report.restVolume).toFixed(1)} %`],
      ["Contacts", report.contacts > 0 ? `${report.contacts}, up to ${withUnit(report.contactForce, "N")}` : "none"],
      ["Memory", `${(report.memory / 2 ** 20).toFixed(1)} MB`],
      ["State", report.hash],
    ];
    element("numbers").replaceChildren(...rows.flatMap(([name, value]) => [
      make("dt", { textContent: name }), make("dd", { textContent: value, title: value })]));
  }

  private plot(time: number, elastic: number, kinetic: number, momentum: number): void {
    if (time === this.lastTime) return;
    if (time < this.lastTime) this.clear();
    this.lastTime = time;
    this.elastic.push(elastic);
    this.kinetic.push(kinetic);
    this.momentum.push(momentum);
    if (this.elastic.length > KEPT) [this.elastic, this.kinetic, this.momentum].forEach((values) => values.shift());
    const highest = Math.max(...this.elastic, ...this.kinetic, 1e-12);
    const path = (values: number[], top = highest): string => values
      .map((v, i) => `${i === 0 ? "M" : "L"}${((240 * i) / (KEPT - 1)).toFixed(1)} ${(42 - (40 * v) / top).toFixed(1)}`).join("");
    element("energy-elastic").setAttribute("d", path(this.elastic));
    element("energy-kinetic").setAttribute("d", path(this.kinetic));
    element("momentum").setAttribute("d", path(this.momentum, Math.max(...this.momentum, 1e-12)));
  }
}
