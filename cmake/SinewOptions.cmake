# Warnings and sanitizers for everything that is ours.
add_library(sinew_options INTERFACE)
target_compile_options(sinew_options INTERFACE -Wall -Wextra -Wpedantic -Wconversion -fno-math-errno)
target_compile_definitions(sinew_options INTERFACE _POSIX_C_SOURCE=200809L)
if(EMSCRIPTEN)
  target_compile_options(sinew_options INTERFACE -msimd128) # every file, since all must agree on the width of sn_lanes
  # Emscripten 3.1.6 packs scalar code into vectors wrongly: the transpose of a matrix times a vector, in place.
  target_compile_options(sinew_options INTERFACE -fno-slp-vectorize)
endif()
if(SINEW_REPRODUCIBLE)
  target_compile_options(sinew_options INTERFACE -ffp-contract=off)
  target_compile_definitions(sinew_options INTERFACE SN_REPRODUCIBLE)
endif()
if(SINEW_WERROR)
  target_compile_options(sinew_options INTERFACE -Werror)
endif()
if(SINEW_SANITIZE)
  # -O1: half the running time of -O0, and stack traces stay readable.
  target_compile_options(sinew_options INTERFACE -fsanitize=${SINEW_SANITIZE} -fno-sanitize-recover=all
                                                 -fno-omit-frame-pointer -O1)
  add_link_options(-fsanitize=${SINEW_SANITIZE})
endif()
if(SINEW_FUZZ)
  target_compile_options(sinew_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
