// Numbers with units, as people read them.

const PREFIXES: [number, string][] = [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"]];

// Three significant digits and a prefix: 1.25 kN.
export function withUnit(value: number, unit: string): string {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size < 1e-9) return `0 ${unit}`.trim();
  const [scale, prefix] = PREFIXES.find(([s]) => size >= s * 0.9995) ?? PREFIXES[PREFIXES.length - 1];
  return `${digits(value / scale)} ${prefix}${unit}`.trim();
}

// Three significant digits, without an exponent.
export function digits(value: number): string {
  const size = Math.abs(value);
  if (size >= 100) return value.toFixed(0);
  if (size >= 10) return value.toFixed(1);
  return size >= 1 || size === 0 ? value.toFixed(2) : value.toPrecision(3);
}
