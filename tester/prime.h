/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A few frames ahead of a trial: they warm the path up (a ring's first burst may be dropped) and
 * show with which MAC addresses frames come back, which the judge then demands of every frame.
 */
#pragma once

#include "trial.h"

/* Addresses of the frames that a port sends. */
struct frame_address prime_address(const struct port *port);
/* 0, or -1 if no frame of a stream came back. What is learned stays until the way changes. */
int prime_run(struct tester *tester, const struct config_trial *config, struct failure *failure);
