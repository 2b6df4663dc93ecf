#!/usr/bin/env bash
# Measures the converter against dd on the same bytes, disk to disk, and its peak memory.
#   tests/convert/speed.sh [LAYERS [FOLDER [BUILD]]]
# Makes a checkpoint of North Mini Code's widths with LAYERS layers (default 4: 4.9 GB) in FOLDER
# (default: a new one in /tmp), reads it cold three times with each, and deletes everything.
# Needs three times the checkpoint's size of disk. Goal: at least 80 % of dd, under 1 GiB.
set -euo pipefail

layers=${1:-4}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=${2:-$(mktemp -d /tmp/nmc-speed.XXXXXX)}
bin=${3:-$root/build}/bin
mkdir -p "$folder"
trap 'rm -rf "$folder"' EXIT

python3 - "$root/models/north-mini-code.json" "$layers" >"$folder/config.json" <<'PY'
import json, sys
config, layers = json.load(open(sys.argv[1])), int(sys.argv[2])
config["num_hidden_layers"] = layers
config["layer_types"] = config["layer_types"][:layers]
json.dump(config, sys.stdout)
PY
"$bin/make_checkpoint" "$folder/config.json" "$folder/checkpoint"
bytes=$(cat "$folder"/checkpoint/*.safetensors | wc -c)

cold() {  # drops what was just used from the page cache
  sync
  for f in "$folder"/checkpoint/*.safetensors; do dd if="$f" iflag=nocache count=0 status=none; done
}
rate() {  # START END -> MB/s
  awk -v b="$bytes" -v s="$1" -v e="$2" 'BEGIN { printf "%.0f", b / (e - s) / 1e6 }'
}

dd_rates=() convert_rates=() peak=0
for _ in 1 2 3; do
  cold
  start=$(date +%s.%N)
  cat "$folder"/checkpoint/*.safetensors |
    dd of="$folder/copy" bs=4M iflag=fullblock conv=fsync status=none
  dd_rates+=("$(rate "$start" "$(date +%s.%N)")")
  rm "$folder/copy"

  cold
  start=$(date +%s.%N)
  "$bin/convert" "$folder/checkpoint" "$folder/out.nmc" --quiet 2>/dev/null &
  pid=$!
  while kill -0 "$pid" 2>/dev/null; do
    now=$(awk '/VmHWM/ { print $2 }' "/proc/$pid/status" 2>/dev/null || true)
    [[ -n $now && $now -gt $peak ]] && peak=$now
    sleep 0.05
  done
  wait "$pid"
  convert_rates+=("$(rate "$start" "$(date +%s.%N)")")
  rm "$folder/out.nmc"
done

middle() { printf '%s\n' "$@" | sort -n | sed -n 2p; }
d=$(middle "${dd_rates[@]}") c=$(middle "${convert_rates[@]}")
echo "$((bytes / 1000000)) MB in $layers layers, $(nproc) cores"
echo "dd:      $d MB/s (${dd_rates[*]})"
echo "convert: $c MB/s (${convert_rates[*]}), $((100 * c / d)) % of dd"
echo "convert: peak resident memory $((peak / 1024)) MiB"
