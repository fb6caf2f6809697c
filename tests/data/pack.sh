#!/bin/sh
# Packs FOLDER/{corpus,golden,cycle,bad} into the archives beside this script. The same files give the
# same archives.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
from=${1:?usage: pack.sh FOLDER}
for name in corpus golden cycle bad; do
  tar -C "$from" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=u+w,go-w \
      --exclude='golden/real_*' -cf - "$name" | xz -9e -T1 > "$here/$name.tar.xz"
done
