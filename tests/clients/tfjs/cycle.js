// Loads, predicts with and disposes a SavedModel again and again; fails when memory grows or tensors stay.
// usage: node --expose-gc --single-threaded --max-semi-space-size=1 cycle.js MODEL CYCLES
// in the folder that setup.sh made.
const fs = require('fs');
const [model, count] = process.argv.slice(2);
const tf = require(require.resolve('@tensorflow/tfjs-node', {paths: [process.cwd()]}));

// Anonymous memory without V8's own heap, which breathes by tens of MiB.
function nativeKiB() {
  global.gc();
  const anonymous = Number(/Anonymous:\s+(\d+)/.exec(fs.readFileSync('/proc/self/smaps_rollup', 'utf8'))[1]);
  return anonymous - Math.round(process.memoryUsage().heapTotal / 1024);
}

// Inputs of the signature's shapes; unknown dimensions are 1.
async function inputsOf(signature) {
  const inputs = {};
  for (const [name, info] of Object.entries(signature)) {
    const shape = info.shape.map(d => Math.max(1, Number(d.array ? d.array[0] : d)));
    inputs[name] = info.dtype === 'string' ? tf.fill(shape, 'text', 'string') : tf.zeros(shape, info.dtype);
  }
  return inputs;
}

async function main() {
  const graphs = await tf.node.getMetaGraphsFromSavedModel(model);
  const signature = graphs[0].signatureDefs['serving_default'];
  const cycles = Number(count);
  const samples = [];
  for (let i = 0; i < cycles; ++i) {
    const loaded = await tf.node.loadSavedModel(model, ['serve'], 'serving_default');
    const inputs = await inputsOf(signature.inputs);
    const outputs = loaded.predict(inputs);
    for (const t of Object.values(outputs)) await t.data();
    tf.dispose([inputs, outputs]);
    loaded.dispose();
    if (i % Math.ceil(cycles / 20) === 0) samples.push(nativeKiB());
  }
  samples.push(nativeKiB());
  // It warms up for hundreds of cycles: the least of the last quarter against the least of the one before.
  const least = (from, to) => Math.min(...samples.slice(samples.length * from, samples.length * to));
  const growth = (least(0.75, 1) - least(0.5, 0.75)) / (cycles / 4);
  console.log(`${cycles} cycles of ${model}: ${tf.memory().numTensors} tensors stay, ` +
      `${growth.toFixed(2)} KiB a cycle (samples ${samples.join(' ')})`);
  process.exitCode = tf.memory().numTensors > 0 || growth > 2 ? 1 : 0;
}
main().catch(e => { console.error(e); process.exitCode = 1; });
