// Asks the processor to fetch a cache line that will be needed soon. Only a hint: it does nothing
// with compilers that do not offer it.
#ifndef SN_BASE_PREFETCH_H
#define SN_BASE_PREFETCH_H

#if defined(__GNUC__)
#define SN_PREFETCH(address) __builtin_prefetch(address)
#else
#define SN_PREFETCH(address) ((void)(address))
#endif

#endif
