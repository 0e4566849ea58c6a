#include "fuzz/targets.h"

FUZZ_MAIN(png)
