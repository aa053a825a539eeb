/** How long the opening of a view and its last calls took, as small charts. */
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { colourOf } from "../parts/colour.js";
import type { ViewFacts } from "../state.generated.js";
import { tookOf } from "../timeline/units.js";

export function Charts({ facts: { steps, calls } }: { facts: ViewFacts }) {
  const last = steps[steps.length - 1]?.at ?? 0;
  const times = calls.map(([, took]) => took).sort((a, b) => a - b);
  const middle = times[Math.floor(times.length / 2)];
  const slow =
    times[Math.min(times.length - 1, Math.floor(times.length * 0.95))];
  return (
    <>
      <h3>Opening</h3>
      <ol class="steps">
        {steps.map(({ name, at }, nth) => (
          <li key={name}>
            <span>{name}</span>
            <span>{tookOf(at * 1000)}</span>
            <i
              style={{
                left: `${part(steps[nth - 1]?.at ?? 0, last)}%`,
                width: `${part(at - (steps[nth - 1]?.at ?? 0), last)}%`,
              }}
            />
          </li>
        ))}
      </ol>
      <h3>Calls</h3>
      {middle === undefined || slow === undefined ? (
        <p>It has called nothing yet.</p>
      ) : (
        <>
          <p>
            {`The last ${calls.length}: half within ${tookOf(middle * 1000)}, 19 of 20 within ${tookOf(slow * 1000)}.`}
          </p>
          <Chart calls={calls} />
        </>
      )}
    </>
  );
}

function Chart({ calls }: { calls: ViewFacts["calls"] }) {
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | undefined>(undefined);
  useEffect(() => {
    const made = draw(box.current!, calls);
    chart.current = made;
    const watcher = new ResizeObserver(() =>
      made.setSize({ width: box.current!.clientWidth || 260, height: 110 }),
    );
    watcher.observe(box.current!);
    return () => {
      watcher.disconnect();
      made.destroy();
    };
  }, []);
  useEffect(() => chart.current?.setData(dataOf(calls)), [calls]);
  return (
    <div
      ref={box}
      class="chart"
      role="img"
      aria-label="How long each of the last calls took"
    />
  );
}

const dataOf = (calls: ViewFacts["calls"]): uPlot.AlignedData => [
  calls.map(([at]) => at / 1000),
  calls.map(([, took]) => took),
];

const part = (of: number, all: number) => (all > 0 ? (of / all) * 100 : 0);

function draw(box: HTMLElement, calls: ViewFacts["calls"]): uPlot {
  const colour = (name: string) => colourOf(box, name);
  const axis = {
    stroke: colour("--color-text-secondary"),
    grid: { stroke: colour("--color-border-tertiary"), width: 1 },
    ticks: { show: false },
    font: "11px system-ui",
  };
  return new uPlot(
    {
      width: box.clientWidth || 260,
      height: 110,
      legend: { show: false },
      cursor: { show: false },
      scales: {
        x: { time: false },
        y: { range: (_, _min, max) => [0, max * 1.1 || 1] },
      },
      axes: [
        { ...axis, size: 22, values: (_, all) => all.map((s) => `${s} s`) },
        {
          ...axis,
          size: 52,
          values: (_, all) => all.map((ms) => `${ms} ms`),
        },
      ],
      series: [
        {},
        {
          stroke: colour("--color-text-info"),
          width: 1,
          points: { show: true, size: 4 },
        },
      ],
    },
    dataOf(calls),
    box,
  );
}
