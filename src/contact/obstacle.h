// Convex obstacles: a plane (the half space below it), a sphere, a box and a capsule, each at a
// pose.
//
// In its own axes a plane is z <= 0, a sphere and a box are centred, and a capsule lies along z.
// Distances are signed: negative inside. A separating plane of an obstacle and a triangle is proved
// by the support function, whatever direction was tried, so a bad direction costs tightness but
// never a certificate.
#ifndef SN_CONTACT_OBSTACLE_H
#define SN_CONTACT_OBSTACLE_H

#include "math/box.h"
#include "math/rigid.h"

typedef enum sn_obstacle_kind {
    SN_OBSTACLE_PLANE,
    SN_OBSTACLE_SPHERE,
    SN_OBSTACLE_BOX,
    SN_OBSTACLE_CAPSULE,
} sn_obstacle_kind;

typedef struct sn_obstacle_shape {
    sn_obstacle_kind kind;
    double radius; // of a sphere or capsule [m]
    sn_vec3 half;  // half the edges of a box; of a capsule z is half its straight part [m]
} sn_obstacle_shape;

// The point of an obstacle nearest to x.
typedef struct sn_obstacle_point {
    double distance; // negative inside [m]
    sn_vec3 normal;  // unit, out of the obstacle
    sn_vec3 point;   // on its surface [m]
} sn_obstacle_point;

sn_obstacle_point sn_obstacle_nearest(const sn_obstacle_shape *shape, sn_rigid pose, sn_vec3 x);

// The points of a triangle and of an obstacle nearest to each other.
typedef struct sn_obstacle_meeting {
    sn_obstacle_point at; // distance and normal, from the obstacle to the triangle
    double b[3];          // barycentric coordinates of the triangle's point
} sn_obstacle_meeting;

// Not for planes, which meet a triangle at its vertices. A triangle that passes through the
// obstacle gets a distance of at most 0, or one that no direction certifies.
sn_obstacle_meeting sn_obstacle_meet_triangle(const sn_obstacle_shape *shape, sn_rigid pose,
                                              const sn_vec3 corner[3]);

// The largest n . p over the points p of the obstacle; infinite for a plane unless n is its normal.
double sn_obstacle_support(const sn_obstacle_shape *shape, sn_rigid pose, sn_vec3 n);

// A box around it; of a plane all space below its highest point, which is infinite unless the plane
// is level with an axis.
sn_box sn_obstacle_box(const sn_obstacle_shape *shape, sn_rigid pose);

// The distance of the remotest point from the centre; infinite for a plane. [m]
double sn_obstacle_radius(const sn_obstacle_shape *shape);

// The pose at the share t of the motion from a to b: straight, and about one axis.
sn_rigid sn_pose_between(sn_rigid a, sn_rigid b, double t);

// The angle of that rotation. [rad]
double sn_pose_angle(sn_rigid a, sn_rigid b);

#endif
