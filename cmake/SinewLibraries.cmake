# The libraries the core stands on. Each is optional, and the summary says which are in.
add_library(sinew_libraries INTERFACE)
target_link_libraries(sinew_libraries INTERFACE m)
if(NOT EMSCRIPTEN)
  set(THREADS_PREFER_PTHREAD_FLAG ON)
  find_package(Threads REQUIRED)
  target_link_libraries(sinew_libraries INTERFACE Threads::Threads)
endif()

if(SINEW_CHOLMOD)
  find_path(CHOLMOD_INCLUDE_DIR cholmod.h PATH_SUFFIXES suitesparse REQUIRED)
  find_library(CHOLMOD_LIBRARY cholmod REQUIRED)
  target_include_directories(sinew_libraries SYSTEM INTERFACE $<BUILD_INTERFACE:${CHOLMOD_INCLUDE_DIR}>)
  target_link_libraries(sinew_libraries INTERFACE ${CHOLMOD_LIBRARY})
  target_compile_definitions(sinew_libraries INTERFACE $<BUILD_INTERFACE:SN_WITH_CHOLMOD=1>)
endif()

if(SINEW_LAPACK)
  find_path(LAPACKE_INCLUDE_DIR lapacke.h REQUIRED)
  find_library(LAPACKE_LIBRARY lapacke REQUIRED)
  find_library(LAPACK_LIBRARY lapack REQUIRED)
  find_library(BLAS_LIBRARY NAMES openblas blas REQUIRED)
  find_library(ARPACK_LIBRARY arpack REQUIRED)
  target_include_directories(sinew_libraries SYSTEM INTERFACE $<BUILD_INTERFACE:${LAPACKE_INCLUDE_DIR}>)
  target_link_libraries(sinew_libraries INTERFACE ${ARPACK_LIBRARY} ${LAPACKE_LIBRARY} ${LAPACK_LIBRARY} ${BLAS_LIBRARY})
  target_compile_definitions(sinew_libraries INTERFACE $<BUILD_INTERFACE:SN_WITH_LAPACK=1>)
endif()

# Files and pictures: zlib for compressed data, libpng for previews.
find_package(ZLIB REQUIRED)
find_package(PNG REQUIRED)
target_link_libraries(sinew_libraries INTERFACE ZLIB::ZLIB PNG::PNG)

message(STATUS "sinew uses CHOLMOD: ${SINEW_CHOLMOD}, LAPACK and ARPACK: ${SINEW_LAPACK}")
