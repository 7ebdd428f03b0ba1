/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tester says: one JSON object a line. docs/tester-protocol.md describes them. */
#pragma once

#include <stdint.h>

#include "failure.h"
#include "trial.h"

/* Takes stdout for the replies alone: what libraries print there goes to stderr. 0, or -1. */
int reply_init(void);
void reply_hello(int64_t id, const struct tester *tester);
void reply_opened(int64_t id, const struct tester *tester);
void reply_progress(int64_t id, const struct trial_progress *progress);
void reply_result(int64_t id, const struct tester *tester, const struct config_trial *config,
		  const struct trial_result *result);
void reply_counters(int64_t id, const struct tester *tester, const struct counters *counters);
void reply_bye(int64_t id);
void reply_error(int64_t id, const struct failure *failure);
