// Glue between bodies: attachments that break together.
#ifndef SN_DYNAMICS_GLUE_H
#define SN_DYNAMICS_GLUE_H

#include "sinew/glue.h"

#include "dynamics/world.h"

// Called when an attachment of glue goes: the glue goes with the last of them.
void sn_glue_forget(sinew_glue *glue, const sinew_attachment *attachment);

// After a step: breaks glue whose force exceeds its strength, and notes that as an event.
sinew_status sn_glue_break(sinew_world *world);

#endif
