  const weigh = (scores, query) => scores.flatMap(([c, a, b, origin, unit, tanh]) => { // as Score in explorer_live.py says
    const from = query.map((v, i) => v - origin[i]);
    const length = (unit && Math.hypot(...from)) || 1;
    const q = from.map((v) => v / length);
    const s = (b ?? c).map((_, j) => c[j % c.length].reduce((sum, w, i) => {
      const x = (a ? a[i][0] * q[0] + a[i][1] * q[1] : q[i]) + (b ? b[j][i] : 0);
      return sum + w * (tanh ? Math.tanh(x) : x);
    }, 0));
    const e = s.map((v) => Math.exp(v - Math.max(...s)));
    const sum = e.reduce((x, y) => x + y);
    return e.map((v) => v && (Math.round((v / sum) * 1e4) / 1e4 || TINY));
  });
  kits.push((root, controls, choices, scores) => scores && ((values, frame) => {
    const { frames, weights, query } = scores;
    const places = [choices.length - 2, choices.length - 1];
    const q = places.map((i) => Number(choices[i][1][controls[i].at()]));
    query.forEach((at, i) => (values[at] = q[i]));
    const found = weigh(frames[frame], q);
    values.splice(weights, found.length, ...found);
  }));
