#include "fuzz/mutate_json.h"
#include "fuzz/targets.h"

FUZZ_MUTATE_JSON
FUZZ_MAIN(gltf)
