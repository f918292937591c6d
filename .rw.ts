const { race } = await import("./race/mod.ts"); const { RwLock } = await import("./mod.ts");
const W = (m: any) => new Int32Array(m, 7168);
const w = (m: any) => { const l = new RwLock(m); l.write(); W(m)[0]++; l.unlockWrite(); };
const r = (m: any) => { const l = new RwLock(m); l.read(); W(m)[0]; l.unlockRead(); };
for (const [a, b] of [[1, 2], [1, 3], [2, 2]]) { const t = performance.now(); const x: any = await race.agents({ memory: () => new SharedArrayBuffer(8192) }, ...Array(a).fill(w), ...Array(b).fill(r), { states: 1_500_000, time: 60000 } as any); console.log(a, b, x.states, x.complete, Math.round(performance.now() - t)); }
