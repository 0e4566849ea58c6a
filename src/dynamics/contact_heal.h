// Bodies that overlap when a step begins (contact_heal.c has the method).
#ifndef SN_DYNAMICS_CONTACT_HEAL_H
#define SN_DYNAMICS_CONTACT_HEAL_H

#include "dynamics/contact.h"

// Looks for bodies that overlap at own->x, where there may be any; fails if that is refused.
sinew_status sn_contact_find_overlaps(sn_island *island);
// Adds the overlaps that were found to a report.
void sn_contact_count_overlaps(const sn_island *island, sinew_contact_report *report);
// After a step: leads bodies that overlap apart.
sinew_status sn_contact_heal(sinew_world *world);

#endif
