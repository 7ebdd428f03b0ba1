#!/bin/sh
# -I: neither the folder that it is called in nor a user's own packages change what runs.
exec /usr/lib/wirespeed/bin/python3 -I -c 'from wirespeed.cli import main; main()' "$@"
