// Asks the processor to fetch a cache line that will be needed soon. Only a hint; nothing happens
// where it is not known.
#ifndef SN_BASE_PREFETCH_H
#define SN_BASE_PREFETCH_H

#if defined(__GNUC__)
#define SN_PREFETCH(address) __builtin_prefetch(address)
#else
#define SN_PREFETCH(address) ((void)(address))
#endif

#endif
