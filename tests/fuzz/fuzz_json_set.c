#include "fuzz/targets.h"

FUZZ_MAIN(json_set)
