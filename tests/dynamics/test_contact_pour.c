// Bodies that fall together, close to each other: until the first of them lands they fall as they
// would alone, and later they do not fall behind their velocities.
#include "support/test.h"
#include "support/touch.h"

#include "sinew/sinew.h"

#include <math.h>
#include <stdio.h>

enum { BODIES = 10 };

static const double gravity = 9.81;
static const double step_length = 0.01;

typedef enum pour_kind { POUR_AFFINE, POUR_RIGID_FRAMES, POUR_RIGID, POUR_ELEMENTS } pour_kind;

typedef struct setting {
    sinew_context *context;
    sinew_world *world;
    sinew_mesh *mesh, *surface;
    sinew_voxels *voxels;
    sinew_body *bodies[BODIES];
    sinew_point *centers[BODIES];
} setting;

static void check(const setting *s, sinew_status status) {
    if (status != SINEW_OK) {
        fail_msg("%s", sinew_context_message(s->context));
    }
}

static setting make_setting(void) {
    setting s = {.world = NULL};
    sinew_context_def context = sinew_default_context_def();
    context.threads = 1;
    s.context = sinew_context_create(&context);
    assert_non_null(s.context);

    sinew_world_def world = sinew_default_world_def();
    world.gravity[2] = -gravity;
    world.step = step_length;
    check(&s, sinew_world_create(s.context, &world, &s.world));
    sinew_contact_def contact = sinew_default_contact_def();
    check(&s, sinew_world_set_contact(s.world, &contact));

    // Cubes of 0.1 m.
    sinew_shape_def shape = sinew_default_shape_def();
    shape.size[0] = shape.size[1] = shape.size[2] = 0.1;
    shape.cells[0] = shape.cells[1] = shape.cells[2] = 3;
    check(&s, sinew_mesh_create_shape(s.context, &shape, &s.mesh));
    shape.element = SINEW_ELEMENT_TRIANGLE;
    check(&s, sinew_mesh_create_shape(s.context, &shape, &s.surface));
    sinew_solid_def solid = sinew_default_solid_def();
    sinew_voxel_def grid = sinew_default_voxel_def();
    for (int k = 0; k < 3; k++) {
        solid.size[k] = 0.1;
        grid.spacing[k] = 0.02;
    }
    check(&s, sinew_voxels_create_from_solids(s.context, &solid, 1, &grid, &s.voxels));
    return s;
}

static void destroy_setting(setting *s) {
    sinew_world_destroy(s->world);
    sinew_voxels_destroy(s->voxels);
    sinew_mesh_destroy(s->surface);
    sinew_mesh_destroy(s->mesh);
    sinew_context_destroy(s->context);
}

static void place(double *position, double *rotation, double *velocity, int i) {
    // A column whose members are a millimetre apart, each turned about z.
    double angle = 0.3 * i;
    position[0] = 0.004 * (i % 3);
    position[2] = 0.5 + 0.101 * i;
    rotation[2] = sin(angle / 2);
    rotation[3] = cos(angle / 2);
    velocity[2] = -3;
}

static void add_body(setting *s, pour_kind kind, int i) {
    sinew_material_def material = sinew_default_material_def();
    material.young = 1e5;
    material.poisson = 0.3;
    if (kind == POUR_ELEMENTS) {
        sinew_body_def def = sinew_default_body_def();
        def.mesh = s->mesh;
        def.materials = &material;
        def.material_count = 1;
        place(def.position, def.rotation, def.velocity, i);
        check(s, sinew_body_create(s->world, &def, &s->bodies[i]));
    } else if (kind == POUR_RIGID) {
        sinew_rigid_body_def def = sinew_default_rigid_body_def();
        def.surface = s->surface;
        place(def.position, def.rotation, def.velocity, i);
        check(s, sinew_rigid_body_create(s->world, &def, &s->bodies[i]));
    } else {
        sinew_frame_node node = {.kind = kind == POUR_AFFINE ? SINEW_NODE_AFFINE
                                                             : SINEW_NODE_RIGID};
        sinew_frame_body_def def = sinew_default_frame_body_def();
        def.voxels = s->voxels;
        def.nodes = &node;
        def.node_count = 1;
        def.materials = &material;
        def.material_count = 1;
        def.surface = s->surface;
        place(def.position, def.rotation, def.velocity, i);
        check(s, sinew_frame_body_create(s->world, &def, &s->bodies[i]));
    }
    check(s, sinew_point_create(s->bodies[i], (const double[3]){0, 0, 0}, &s->centers[i]));
}

static double height(const setting *s, int i) {
    double position[3];
    check(s, sinew_point_get_position(s->centers[i], position));
    return position[2];
}
int main(void){
 for(int kind=0;kind<4;kind++){
  setting s=make_setting();
  for(int i=0;i<BODIES;i++) add_body(&s,(pour_kind)kind,i);
  sinew_obstacle_def floor=sinew_default_obstacle_def();
  check(&s,sinew_obstacle_create(s.world,&floor,NULL));
  double v=-3,z=0; double total=0;
  for(int n=0;n<60;n++){ check(&s,sinew_world_step(s.world,NULL)); v-=gravity*step_length; z+=v*step_length;
    sinew_contact_report r=sinew_world_get_contact_report(s.world);
    total+=r.lag; double worst=0; for(int i=0;i<BODIES;i++) worst=fmax(worst,fabs(height(&s,i)-0.5-0.101*i-z));
    sinew_measures m; sinew_world_get_measures(s.world,&m);
    if(n<14||n%6==0) printf("%d step %d off %g lag %g solves %d active %d cross %d held %d E %g\n",kind,n,worst,r.lag,r.solves,r.active,(int)test_count_body_crossings(s.bodies,BODIES),r.held,m.kinetic_energy+m.gravity_energy+m.elastic_energy);
  }
  printf("total lag %g\n",total);
  destroy_setting(&s);
 }
}
