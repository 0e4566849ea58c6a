// What attachments know of the joints that they belong to.
#ifndef SN_DYNAMICS_RIGID_JOINT_H
#define SN_DYNAMICS_RIGID_JOINT_H

#include "dynamics/world.h"

// Called when an attachment of a joint goes: the joint goes with the last of them.
void sn_rigid_joint_forget(sinew_rigid_joint *joint, const sinew_attachment *attachment);

// After frames of a body have come or gone.
sinew_status sn_rigid_joint_refresh(sinew_rigid_joint *joint, const sinew_body *body);

// Whether a spring of a joint acts in a step of a time h: that of a bound only if the angle would
// end beyond it.
bool sn_rigid_joint_acts(sinew_rigid_joint *joint, const sinew_attachment *attachment, double h);

#endif
