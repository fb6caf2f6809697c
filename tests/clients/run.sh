#!/bin/sh
# Real clients of libtensorflow, unchanged, on our library.
# usage: run.sh CLIENT WORK LIB INCLUDE DATA
#   CLIENT  tfjs: tfjs-core's suite on tfjs-node; tfjs-cycles: 1,000 loads of each of some models; java: the same with
#           TensorFlow's Java library
#   WORK    where packages are installed and built; kept between runs
#   DATA    the unpacked test models
# Exit status 77 where a tool or the network is missing: skipped.
set -e
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$2"
client=$1 work=$(cd "$2" && pwd) lib=$(cd "$3" && pwd) include=$(cd "$4" && pwd) data=$(cd "$5" && pwd)
cycles=${CYCLES:-1000}

skip() {
  echo "SKIPPED: $client: $1"
  exit 77
}
need() {
  for tool in "$@"; do command -v "$tool" > /dev/null || skip "there is no $tool"; done
}
# Specs of tfjs-core that execute ops and must pass.
min_passed=2491

setup_tfjs() {
  need node npm g++ make python3
  sh "$here/tfjs/setup.sh" "$work/tfjs" "$lib" "$include" || skip "its packages could not be installed"
  cd "$work/tfjs"
}

case $client in
  tfjs)
    setup_tfjs
    # The suite's own exit status is that of specs without ops too; the table judges. A crash leaves no summary.
    node "$here/tfjs/run.js" "$work/tfjs-specs.tsv" > "$work/tfjs.log" 2>&1 || true
    grep -q '^[0-9]* specs,' "$work/tfjs.log" || { tail -5 "$work/tfjs.log"; echo "the suite did not end"; exit 1; }
    python3 "$here/tfjs/table.py" "$work/tfjs-specs.tsv" "$work/tfjs-table.md" --min-passed $min_passed
    ;;
  tfjs-cycles)
    setup_tfjs
    # One thread and small young generations: V8's heap then stays out of the picture.
    for model in keras_dense_sm keras_lookup_sm tf1_ref; do
      MALLOC_ARENA_MAX=1 node --expose-gc --single-threaded --max-semi-space-size=1 "$here/tfjs/cycle.js" "$data/cycle/$model" "$cycles"
    done
    ;;
  java)
    need java javac mvn unzip
    mkdir -p "$work/java/jni" "$work/java/classes"
    [ -f "$work/java/jni/libjnitensorflow.so" ] || {
      mvn -q -B -f "$here/java/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/java/jars" ||
        skip "its packages could not be fetched"
      native=$(ls "$work"/java/jars/tensorflow-core-native-*-linux-x86_64.jar)
      unzip -o -q -j "$native" '*/libjnitensorflow.so' -d "$work/java/jni"
      rm "$native"
    }
    for name in libtensorflow.so.2 libtensorflow_cc.so.2 libtensorflow_framework.so.2; do
      ln -sf "$lib/libtensorflow.so.2" "$work/java/jni/$name"
    done
    javac -d "$work/java/classes" -cp "$work/java/jars/*" "$here/java/Cycle.java"
    # A heap that is there from the start, one collector, one compiler: what still grows is not the virtual machine's.
    MALLOC_ARENA_MAX=1 java -Xms64m -Xmx64m -XX:+AlwaysPreTouch -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
      -Djava.library.path="$work/java/jni" -Dorg.bytedeco.javacpp.pathsFirst=true \
      -cp "$work/java/jars/*:$work/java/classes" Cycle "$data/cycle/keras_dense_sm" "$cycles"
    ;;
  *)
    echo "unknown client $client" >&2
    exit 1
    ;;
esac
