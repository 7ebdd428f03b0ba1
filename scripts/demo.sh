#!/bin/sh
# The main job on real packets: both DUTs, every frame size, short trials.
set -eu

.venv/bin/wirespeed measure rfc2544 --demo --out build/demo
