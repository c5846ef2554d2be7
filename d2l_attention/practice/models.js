  // Small trained models in plain numbers: each takes its arrays and the numbers of the tokens.
  const unpack = (base64, shapes) => { // float16s, row by row
    const bytes = atob(base64);
    let at = 0;
    const number = () => {
      const h = bytes.charCodeAt(at++) + 256 * bytes.charCodeAt(at++);
      const [e, f] = [(h >> 10) & 31, h & 1023];
      return (h >> 15 ? -1 : 1) * (e ? 2 ** (e - 15) * (1 + f / 1024) : f * 2 ** -24);
    };
    const fill = ([n, ...rest]) => Array.from({ length: n }, () => (rest.length ? fill(rest) : number()));
    return shapes.map(fill);
  };
  const dot = (a, b) => a.reduce((sum, v, i) => sum + v * b[i], 0);
  const add = (a, b) => a.map((v, i) => v + b[i]);
  const times = (W, x, bias) => W.map((row, i) => dot(row, x) + (bias ? bias[i] : 0));
  const blend = (weights, rows) => rows[0].map((_, i) => weights.reduce((sum, w, j) => sum + w * rows[j][i], 0));
  const top = (p) => p.indexOf(Math.max(...p));
  const norm = (x, g, b) => {
    const mean = x.reduce((a, v) => a + v) / x.length;
    const variance = x.reduce((a, v) => a + (v - mean) ** 2, 0) / x.length;
    return x.map((v, i) => ((v - mean) / Math.sqrt(variance + 1e-5)) * g[i] + b[i]);
  };
  const turn = (x, at) => x.map((v, i) => { // chapter 4's rotate
    const angle = at * 10000 ** (-(i - (i % 2)) / x.length);
    return Math.cos(angle) * v + (i % 2 ? 1 : -1) * Math.sin(angle) * x[i + (i % 2 ? -1 : 1)];
  });
  const attend = (h, [W_q, W_k, W_v], [K, V]) => { // a head; its keys and values join those of the cache
    const project = (W) => h.map((v) => times(W, v)), before = K.length;
    K.push(...project(W_k).map((k, i) => turn(k, before + i)));
    V.push(...project(W_v));
    return project(W_q).map((q, i) => {
      const turned = turn(q, before + i);
      return softmax(K.slice(0, before + i + 1).map((k) => dot(turned, k) / Math.sqrt(q.length)));
    });
  };
  const decode = ([embedding, ...W], ids, kept = []) => { // blocks: norms, attention, feed-forward; then norm and logits
    const heads = 4;
    let x = ids.map((id) => embedding[id]);
    for (let at = 0; at < W.length - 4; at += 12) {
      const [g1, b1, g2, b2, W_q, W_k, W_v, W_o, up, up_b, down, down_b] = W.slice(at);
      const h = x.map((v) => norm(v, g1, b1)), size = W_q.length / heads;
      const joined = Array.from({ length: heads }, (_, head) => {
        const cache = (kept[at * heads + head] ??= [[], []]);
        const weights = attend(h, [W_q, W_k, W_v].map((M) => M.slice(head * size, head * size + size)), cache);
        return weights.map((w) => blend(w, cache[1]));
      });
      x = x.map((v, i) => add(v, times(W_o, joined.flatMap((o) => o[i]))));
      x = x.map((v) => add(v, times(down, times(up, norm(v, g2, b2), up_b).map((u) => Math.max(u, 0)), down_b)));
    }
    return x.map((v) => times(W.at(-2), norm(v, W.at(-4), W.at(-3)), W.at(-1)));
  };
  const gru = (Wx, Wh, h, x) => { // (15.1)
    const [a, b, n] = [times(Wx, x), times(Wh, h), h.length];
    const sigmoid = (v) => 1 / (1 + Math.exp(-v));
    return h.map((v, i) => {
      const [r, z] = [sigmoid(a[i] + b[i]), sigmoid(a[n + i] + b[n + i])];
      return z * v + (1 - z) * Math.tanh(a[2 * n + i] + r * b[2 * n + i]);
    });
  };
  const models = {
    sentence([W_q, W_k, W_v], ids) { // (2.1); the last word asks
      const weights = ids.map((asks) => softmax(ids.map((id) => dot(W_q[asks], W_k[id]) / Math.sqrt(W_q[0].length))));
      const p = softmax(blend(weights.at(-1), ids.map((id) => W_v[id])));
      return { weights, p: [p], written: [top(p)] };
    },
    translator([embedding, rightX, rightH, leftX, leftH, S, S_b, W_q, W_k, w_v, tokens, cellX, cellH, O, O_b], ids) {
      const read = (Wx, Wh, letters) => {
        let h = Array(Wh[0].length).fill(0);
        return letters.map((id) => (h = gru(Wx, Wh, h, embedding[id])));
      };
      const ahead = read(rightX, rightH, ids), back = read(leftX, leftH, [...ids].reverse()).reverse();
      const states = ahead.map((h, j) => [...h, ...back[j]]);
      const keys = states.map((h) => times(W_k, h));
      let s = times(S, [...ahead.at(-1), ...back[0]], S_b).map(Math.tanh);
      const found = { weights: [], p: [], written: [] };
      for (let t = 0, y = 1; t < 11; t++) { // from <bos> on
        const q = times(W_q, s);
        const weights = softmax(keys.map((k) => dot(w_v[0], add(q, k).map(Math.tanh))));
        const c = blend(weights, states);
        s = gru(cellX, cellH, s, [...tokens[y], ...c]);
        const p = softmax(times(O, [...s, ...c], O_b));
        y = top(p);
        if (y === 2) break; // <eos>
        found.weights.push(weights);
        found.p.push(p);
        found.written.push(y);
      }
      return found;
    },
  };
