// Charts of a report: points with error bars, by uPlot, which is above: its names are kept apart by the block.
{
  const colours = ['#2582e6', '#e03636', '#2ca02c', '#a06cd5', '#f08a00', '#12a5a0', '#b07050', '#e062b5', '#8a8a8a', '#667788'];
  const colour = (chart, i) => colours[chart.names ? 0 : i % colours.length]; // names stand on the axis
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name);

  /** bars draws the error bars of a chart's series. */
  const bars = (chart) => (u) => {
    for (const [i, s] of chart.series.entries()) {
      u.ctx.strokeStyle = colour(chart, i);
      u.ctx.lineWidth = 2;
      for (const [k, x] of s.x.entries()) {
        const at = u.valToPos(x, 'x', true);
        const low = chart.logY ? Math.max(s.y[k] - s.bar[k], s.y[k] / 10) : s.y[k] - s.bar[k];
        u.ctx.beginPath();
        u.ctx.moveTo(at, u.valToPos(low, 'y', true));
        u.ctx.lineTo(at, u.valToPos(s.y[k] + s.bar[k], 'y', true));
        u.ctx.stroke();
      }
    }
  };

  /** data joins the series at all places of the x axis. */
  const data = (chart) => {
    const places = [...new Set(chart.series.flatMap((s) => s.x))].sort((a, b) => a - b);
    return [places, ...chart.series.map((s) => places.map((x) => s.y[s.x.indexOf(x)] ?? null))];
  };

  const range = (chart) => (_, low, high) => {
    const tops = chart.series.flatMap((s) => s.y.map((y, k) => y + s.bar[k]));
    const bottoms = chart.series.flatMap((s) => s.y.map((y, k) => y - s.bar[k]));
    if (chart.logY) return [low / 1.3, Math.max(...tops) * 1.2];
    const air = 0.06 * (Math.max(...tops) - Math.min(...bottoms)) || 0.1 * high || 1;
    return [Math.min(...bottoms) - air, Math.max(...tops) + air];
  };

  const air = (chart) => (_, low, high) => {
    const some = chart.names ? 0.5 : 0.04 * (high - low) || 1;
    return [low - some, high + some];
  };

  const draw = (node, chart) => {
    const axis = (more) => ({ stroke: css('--soft'), grid: { stroke: css('--edge'), width: 1 }, ticks: { show: false }, ...more });
    const longest = Math.max(0, ...(chart.names ?? []).map((name) => name.length));
    const tight = chart.names?.length * (7 * longest + 12) > node.clientWidth - 60; // names side by side would collide
    const names = chart.names && {
      splits: () => chart.names.map((_, i) => i), values: (_, at) => at.map((i) => chart.names[i] ?? ''), rotate: tight ? -40 : 0,
      size: tight ? 20 + 5 * longest : 40,
    };
    const options = {
      width: Math.max(240, node.clientWidth), height: 340, legend: { show: !chart.names, live: false }, cursor: { show: false },
      scales: { x: { time: false, range: air(chart) }, y: { distr: chart.logY ? 3 : 1, range: range(chart) } },
      axes: [axis({ ...(chart.x && { label: chart.x }), ...names }), axis({ label: chart.y, size: 60 })],
      series: [{}, ...chart.series.map((s, i) => ({
        label: s.name, stroke: colour(chart, i), width: 1.5, spanGaps: true,
        points: { show: true, size: 8, fill: colour(chart, i) },
      }))],
      hooks: { draw: [bars(chart)] },
    };
    node.replaceChildren();
    new uPlot(options, data(chart), node);
  };

  const charts = JSON.parse(document.getElementById('charts').textContent);
  const all = () => charts.forEach((chart, i) => draw(document.getElementById(`chart${i}`), chart));
  all();
  window.addEventListener('resize', all);
}
