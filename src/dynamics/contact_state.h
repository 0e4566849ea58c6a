// The part of a snapshot that contact keeps. The check makes room for what restoring needs.
#ifndef SN_DYNAMICS_CONTACT_STATE_H
#define SN_DYNAMICS_CONTACT_STATE_H

#include "dynamics/contact.h"

size_t sn_contact_state_size(const sinew_world *world);
void sn_contact_write_state(const sinew_world *world, char *bytes);
sinew_status sn_contact_check_state(sinew_world *world, const char *bytes, size_t size);
void sn_contact_restore_state(sinew_world *world, const char *bytes);

#endif
