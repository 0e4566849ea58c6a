// Scenes: what a person writes in JSON, as plain structures. Reading (read.h) fills them and
// collects every mistake; building (build.h) makes a world of them and steps it. Everything happens
// in memory: files come through a callback. A new kind of body needs one file that reads it and one
// that builds it.
#ifndef SN_IO_SCENE_SCENE_H
#define SN_IO_SCENE_SCENE_H

#include "sinew/io/recording.h"
#include "sinew/sinew.h"

#include "io/generate/character.h"
#include "io/generate/organism.h"
#include "io/text/json.h"

// A number over time: constant, or keyframes, or a sine. Times in seconds.
typedef enum sn_curve_kind { SN_CURVE_CONSTANT, SN_CURVE_KEYS, SN_CURVE_SINE } sn_curve_kind;

typedef struct sn_curve {
    sn_curve_kind kind;
    double value;             // constant; offset of a sine
    double amplitude, period; // of a sine
    double phase;             // of a sine, in turns
    bool smooth;              // keys: ease in and out instead of straight lines
    bool loop;                // keys: start again after the last
    int32_t key_count;
    const double *times, *values;
} sn_curve;

// Which nodes: primitive tests on rest positions (in scene units and the body's own coordinates)
// and combinations of them.
typedef enum sn_select_kind {
    SN_SELECT_ALL,
    SN_SELECT_BOX,
    SN_SELECT_SPHERE,
    SN_SELECT_PLANE, // on the side the normal points to, or within `radius` of the plane
    SN_SELECT_LABEL,
    SN_SELECT_NODES,
    SN_SELECT_SURFACE,
    SN_SELECT_ANY,   // of the parts
    SN_SELECT_EVERY, // of the parts
    SN_SELECT_NOT,   // of the only part
} sn_select_kind;

typedef struct sn_select sn_select;
struct sn_select {
    sn_select_kind kind;
    double lower[3], upper[3]; // box
    double center[3], normal[3], radius;
    int32_t label;
    int32_t count; // nodes or parts
    const int32_t *nodes;
    const sn_select *parts;
    const sn_json *json; // where it was written
};

typedef struct sn_scene_frames sn_scene_frames; // io/scene/frames.h
typedef struct sn_scene_field sn_scene_field;   // io/scene/field.h
typedef struct sn_scene_rigid sn_scene_rigid;   // io/scene/rigid.h
typedef struct sn_scene_joint sn_scene_joint;   // io/scene/rigid.h

// A generated shape, or solids put together, or a file, or a volume of labels.
typedef struct sn_scene_shape {
    bool generated;
    sinew_shape_def shape;
    int32_t solid_count;
    const sinew_solid_def *solids;
    const char *volume; // file of labels
    double volume_unit; // [m] of its lengths; 0: as its header says
    bool use_threshold; // the volume is an image, solid from `threshold` on
    double threshold;
    bool is_character; // made by code
    sn_character_def character;
    bool is_organism; // made by code too
    sn_organism_kind organism;
    int32_t organism_tets;
    const char *file;
    bool tetrahedralize; // the file is a surface to be filled
    sinew_tetrahedralize_def tets;
    bool quadratic; // make ten-node tets of what was read
    double scale;
    char up; // the up axis of its files, 'y' or 'z'; 0: y for OBJ, for others as they are
    const struct sn_scene_maps
        *maps; // specimens, surfaces, gradients, layers (io/scene/maps.h), or NULL
} sn_scene_shape;

typedef struct sn_scene_material {
    const char *name;
    sinew_material_def def;
    sn_curve fibre_stress; // [Pa] over time
} sn_scene_material;

// A material for the elements with a label.
typedef struct sn_scene_label {
    int32_t label;
    int32_t material; // index in the scene's list
} sn_scene_label;

typedef struct sn_scene_motion {
    sn_curve translate[3]; // [m], added
    sn_curve angle;        // [rad] about `axis` through `center`
    double axis[3], center[3];
    bool turns;
} sn_scene_motion;

// Nodes that are held, perhaps along a motion.
typedef struct sn_scene_support {
    sn_select where;
    int32_t axes;
    bool scripted;
    sn_scene_motion motion;
} sn_scene_support;

typedef enum sn_scene_load_kind {
    SN_LOAD_FORCE,
    SN_LOAD_TRACTION,
    SN_LOAD_PRESSURE
} sn_scene_load_kind;

typedef struct sn_scene_load {
    const char *name; // or NULL
    sn_scene_load_kind kind;
    sn_select where;
    double vector[3]; // total force shared by the nodes [N], or traction [Pa]
    double pressure;  // [Pa]
    bool at_point;    // a force at one material point
    double point[3];  // rest position [m]
    bool at_node;     // a force and a torque on one frame
    int32_t node;
    double torque[3]; // [Nm]
    sn_curve scale;
    const sn_json *json;
} sn_scene_load;

// Recorded motion for another skeleton than the file's own.
typedef struct sn_scene_retarget {
    const char *file; // NULL: the skeleton's own motion
    double unit;      // [m]
    sinew_retarget_def def;
    const sn_json *json;
} sn_scene_retarget;

typedef struct sn_scene_skeleton {
    const char *name;
    const sn_json *json;
    const char *file; // NULL: of a character
    sn_character_def character;
    double unit; // metres per unit of the file
    const char *animation;
    sn_scene_retarget motion;
    double start, speed; // [s] of the motion when the run begins; seconds of the motion a second
    sinew_motion_end end;
} sn_scene_skeleton;

// How the nodes of a body follow a skeleton.
typedef enum sn_scene_binding {
    SN_BINDING_BONES,            // those of elements that one bone cuts; the others are simulated
    SN_BINDING_LINEAR,           // all of them, by blended matrices
    SN_BINDING_DUAL_QUATERNIONS, // all of them, by blended rigid motions
} sn_scene_binding;

// Position dynamics of a body; the arrays of `def` are filled in when it is built.
typedef struct sn_scene_positions {
    bool used;
    sinew_pbd_def def;
    sinew_pbd_material stiffness; // or moduli, where `has_moduli`
    bool has_moduli;              // otherwise they follow from the materials
    int32_t core_count;
    const int32_t *cores; // labels of rigid cores
} sn_scene_positions;

typedef struct sn_scene_body {
    const char *name;
    const sn_json *json;
    sn_scene_shape shape;
    sinew_body_def def; // mesh and materials are filled in when it is built
    sinew_solver solver;
    int32_t material;    // index in the scene's list
    bool material_given; // not the default one
    int32_t label_count, support_count, load_count;
    const sn_scene_label *labels;
    const sn_scene_support *supports;
    const sn_scene_load *loads;
    const sn_scene_frames *frames; // NULL for other models
    const sn_scene_rigid *rigid;   // NULL for other models
    const sn_scene_field *field;   // where material axes point; NULL: along x, y, z
    const char *surface; // file of a detailed surface that follows the body; NULL: its own boundary
    bool skin;           // ... the skin of the character that the shape is
    sn_scene_positions positions;
    sinew_reduction_def reduction; // to modal coordinates, if `reduced`
    int32_t skeleton;              // index in the scene's list, or -1
    sn_scene_binding binding;
    bool contact_given, contact_frames_given, color_given, reduced;
    sinew_body_contact_def contact;
    sinew_contact_frames_def contact_frames; // if given: frames that join where it is pressed
    const char *contact_material; // name in the table of friction; NULL: that of its material
    uint32_t color;               // in pictures, 0xrrggbb
} sn_scene_body;

// Something that bodies cannot enter.
typedef struct sn_scene_obstacle {
    const sn_json *json;
    sinew_obstacle_def def;
    const sn_scene_shape *shape; // of a mesh; NULL otherwise
    bool moves;
    sn_scene_motion motion; // of the pose in `def`
    const char *material;   // name in the table of friction; NULL: its own
    uint32_t color;         // in pictures, 0xrrggbb
    double opacity;         // ... in [0, 1]
} sn_scene_obstacle;

// Friction between two materials, by the numbers that the scene gave to their names.
typedef struct sn_scene_friction {
    const sn_json *json;
    int32_t material[2];
    double friction;
} sn_scene_friction;

typedef struct sn_scene_contact {
    bool on, ground; // ground: the last obstacle is one
    const sn_json *json;
    sinew_contact_def def;
    const sn_scene_friction *pairs;
    int32_t pair_count;
} sn_scene_contact;

typedef struct sn_scene_attachment {
    int32_t body, target; // indices of bodies; target -1: a place
    bool at_point;        // `point`, else `where`
    sn_select where;      // nodes of `body`, or points of its surface
    double point[3];      // rest point of a body of frames [m]
    bool has_place;       // `place`, else where the node or point is
    double place[3];      // rest point of the target, or a place [m]
    double stiffness;     // [N/m] per node, 0: hard
    const sn_json *json;
} sn_scene_attachment;

typedef struct sn_scene_probe {
    const char *name;
    int32_t body;
    double point[3]; // rest position [m]
    const sn_json *json;
} sn_scene_probe;

typedef struct sn_scene_output {
    int32_t formats;     // a sum of SINEW_FORMAT_...
    int32_t every;       // steps between two outputs
    int32_t skin_joints; // frames at a point of a skin: 4 or 8
} sn_scene_output;

typedef struct sn_scene_preview {
    sinew_scene_color color;
    int32_t count;         // pictures in the contact sheet
    double direction[3];   // from the middle of the scene towards the camera
    int32_t width, height; // of one picture
    double largest;        // top of the colour scale; 0: from the run
    bool ground;
    double ground_height;  // along up [m]; NaN: where the motion is lowest
    bool ghost;            // shows the first moment as glass in the others
    bool field;            // shows material axes of bodies with a field
    bool frames, contacts; // shows coordinate frames of bodies, and where forces of contact act
} sn_scene_preview;

typedef struct sn_scene {
    sn_arena arena;
    sn_json_document document;
    const char *name; // of the file
    const char *title;
    double unit; // metres per scene unit of length
    sinew_world_def world;
    int32_t steps;
    bool statics; // find the static equilibrium first
    sinew_static_def static_def;
    int32_t material_count, body_count, attachment_count, joint_count, probe_count, skeleton_count;
    sn_scene_material *materials;
    sn_scene_body *bodies;
    const sn_scene_attachment *attachments;
    const sn_scene_joint *joints;
    const struct sn_scene_glue *glues; // io/scene/rigid.h
    const sn_scene_probe *probes;
    const sn_scene_skeleton *skeletons;
    sn_scene_contact contact;
    const sn_scene_obstacle *obstacles;
    int32_t obstacle_count, glue_count;
    sn_scene_output output;
    sn_scene_preview preview;
} sn_scene;

// Value of a curve at a time.
double sn_curve_at(const sn_curve *curve, double time);

// Whether a rest position, node number, and the labels and surface of its node satisfy a selection.
typedef struct sn_select_node {
    double position[3];
    bool surface;
    int32_t node, label_count;
    const int32_t *labels; // of the elements at the node
} sn_select_node;
bool sn_select_test(const sn_select *select, const sn_select_node *node);

#endif
