// SN_ASSERT states what the code relies on. It is for the programmer's mistakes only; a user's bad
// data gets a status.
#ifndef SN_BASE_ASSERT_H
#define SN_BASE_ASSERT_H

#include <assert.h>

#define SN_ASSERT(condition) assert(condition)

#endif
