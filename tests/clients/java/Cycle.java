// TensorFlow's own Java library on ours: an eager addition, then a SavedModel loaded, run and closed again and again.
// Fails when an answer is wrong or memory grows.
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.tensorflow.EagerSession;
import org.tensorflow.Operand;
import org.tensorflow.Result;
import org.tensorflow.SavedModelBundle;
import org.tensorflow.SessionFunction;
import org.tensorflow.Tensor;
import org.tensorflow.TensorFlow;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.Ops;
import org.tensorflow.types.TFloat32;
import org.tensorflow.types.TInt32;

public class Cycle {
  static long anonymousKiB() throws Exception {
    System.gc();
    for (String line : Files.readAllLines(Path.of("/proc/self/smaps_rollup"))) {
      if (line.startsWith("Anonymous:")) return Long.parseLong(line.replaceAll("[^0-9]", ""));
    }
    throw new IllegalStateException("no smaps_rollup");
  }

  static void addEagerly() {
    try (EagerSession session = EagerSession.create()) {
      Ops tf = Ops.create(session);
      Operand<TInt32> sum = tf.math.add(tf.constant(new int[] {1, 2}), tf.constant(new int[] {3, 4}));
      TInt32 value = sum.asTensor();
      if (value.getInt(0) != 4 || value.getInt(1) != 6) throw new IllegalStateException("1 + 3 or 2 + 4 is wrong");
    }
  }

  static void loadRunClose(String model) {
    try (SavedModelBundle bundle = SavedModelBundle.load(model, "serve")) {
      SessionFunction function = bundle.function("serving_default");
      Map<String, Tensor> inputs = new HashMap<>();
      function.signature().getInputs().forEach((name, description) -> {
        long[] dims = description.shape.asArray();
        for (int i = 0; i < dims.length; i++) dims[i] = Math.max(dims[i], 1);
        inputs.put(name, TFloat32.tensorOf(Shape.of(dims)));
      });
      try (Result result = function.call(inputs)) {
        if (result.size() == 0) throw new IllegalStateException("no outputs");
      }
      inputs.values().forEach(Tensor::close);
    }
  }

  static long least(List<Long> samples, double from, double to) {
    int n = samples.size();
    return samples.subList((int) (n * from), (int) (n * to)).stream().mapToLong(Long::longValue).min().getAsLong();
  }

  public static void main(String[] args) throws Exception {
    int cycles = Integer.parseInt(args[1]);
    addEagerly();
    List<Long> samples = new ArrayList<>();
    for (int i = 0; i < cycles; i++) {
      loadRunClose(args[0]);
      if (i % Math.max(1, cycles / 20) == 0) samples.add(anonymousKiB());
    }
    // The virtual machine warms up for hundreds of cycles: the last quarter against the one before.
    double growth = (least(samples, 0.75, 1) - least(samples, 0.5, 0.75)) / (cycles / 4.0);
    System.out.printf("Java on %s: %d cycles, %.2f KiB a cycle (samples %s)%n", TensorFlow.version(), cycles, growth, samples);
    if (growth > 2) System.exit(1);
  }
}
