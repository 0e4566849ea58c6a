// The bar of `sinew-proof bench bullet` as a deformable body of Bullet, for a comparison in the
// same run on the same machine (btDeformableMultiBodyDynamicsWorld, implicit steps, linear
// elasticity).
//
// Input : a text file with "points tets held step young poisson density gravity warm-up steps" and
//         then the points, the tets and the held points.
// Output: on standard output the processor seconds of each step after the warm-up, one per line,
//         and at the end "tip" with the mean position of the points farthest along x.
//
// Bullet's linear elasticity rotates with each tet (it is the corotational model); its damping is
// switched off.
#include <BulletSoftBody/btDeformableBodySolver.h>
#include <BulletSoftBody/btDeformableGravityForce.h>
#include <BulletSoftBody/btDeformableLinearElasticityForce.h>
#include <BulletSoftBody/btDeformableMultiBodyConstraintSolver.h>
#include <BulletSoftBody/btDeformableMultiBodyDynamicsWorld.h>
#include <BulletSoftBody/btSoftBody.h>
#include <BulletSoftBody/btSoftBodyRigidBodyCollisionConfiguration.h>
#include <btBulletDynamicsCommon.h>

#include <cstdio>
#include <ctime>
#include <fstream>
#include <limits>
#include <memory>
#include <vector>

namespace {

struct Bar {
    int points = 0, tets = 0, held = 0, warm_up = 0, steps = 0;
    double step = 0, young = 0, poisson = 0, density = 0, gravity = 0;
    std::vector<btVector3> positions;
    std::vector<int> nodes, held_nodes;
};

bool read(const char *path, Bar &bar) {
    std::ifstream file(path);
    file >> bar.points >> bar.tets >> bar.held >> bar.step >> bar.young >> bar.poisson >>
        bar.density >> bar.gravity >> bar.warm_up >> bar.steps;
    if (!file) {
        return false;
    }

    for (int i = 0; i < bar.points; i++) {
        double x, y, z;
        file >> x >> y >> z;
        bar.positions.emplace_back(x, y, z);
    }

    bar.nodes.resize(4 * static_cast<size_t>(bar.tets));
    bar.held_nodes.resize(static_cast<size_t>(bar.held));
    for (int &node : bar.nodes) {
        file >> node;
    }
    for (int &node : bar.held_nodes) {
        file >> node;
    }
    return static_cast<bool>(file);
}

// Lumped masses: each corner gets a quarter of a tet's mass, as in Sinew. Bullet holds nodes of
// mass 0.
std::vector<btScalar> masses(const Bar &bar) {
    std::vector<btScalar> mass(static_cast<size_t>(bar.points), 0);
    for (size_t i = 0; i < bar.nodes.size(); i += 4) {
        const btVector3 &a = bar.positions[static_cast<size_t>(bar.nodes[i])];
        auto edge = [&](size_t k) {
            return bar.positions[static_cast<size_t>(bar.nodes[i + k])] - a;
        };
        double volume = edge(1).cross(edge(2)).dot(edge(3)) / 6;
        for (size_t k = 0; k < 4; k++) {
            mass[static_cast<size_t>(bar.nodes[i + k])] += bar.density * volume / 4;
        }
    }

    for (int node : bar.held_nodes) {
        mass[static_cast<size_t>(node)] = 0;
    }
    return mass;
}

std::unique_ptr<btSoftBody> make_body(const Bar &bar, btSoftBodyWorldInfo &info) {
    std::vector<btScalar> mass = masses(bar);
    auto body = std::make_unique<btSoftBody>(&info, bar.points, bar.positions.data(), mass.data());
    for (size_t i = 0; i < bar.nodes.size(); i += 4) {
        body->appendTetra(bar.nodes[i], bar.nodes[i + 1], bar.nodes[i + 2], bar.nodes[i + 3]);
    }

    body->initializeDmInverse();
    body->m_tetraScratches.resize(body->m_tetras.size());
    body->m_tetraScratchesTn.resize(body->m_tetras.size());

    // No damping, drag, collisions or sleeping.
    body->m_cfg.kDP = 0;
    body->m_cfg.drag = 0;
    body->m_cfg.collisions = 0;
    body->m_sleepingThreshold = 0;
    return body;
}

// Solves to the same residual as Sinew, 1e-6 (Bullet compares squares). With implicit steps Bullet
// holds nodes by projection.
class Solver : public btDeformableBodySolver {
  public:
    Solver() {
        m_cg.m_tolerance = 1e-12;
        m_cg.m_maxIterations = 1000;
        m_useProjection = true;
    }
};

double processor_seconds() {
    timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

btVector3 tip(const Bar &bar, const btSoftBody &body) {
    double farthest = -std::numeric_limits<double>::infinity();
    for (const btVector3 &p : bar.positions) {
        farthest = p.x() > farthest ? p.x() : farthest;
    }

    btVector3 sum(0, 0, 0);
    int count = 0;
    for (int i = 0; i < bar.points; i++) {
        if (bar.positions[static_cast<size_t>(i)].x() < farthest - 1e-9) {
            continue;
        }
        sum += body.m_nodes[i].m_x;
        count++;
    }
    return sum / count;
}

} // namespace

int main(int argc, char **argv) {
    Bar bar;
    if (argc != 2 || !read(argv[1], bar)) {
        std::fprintf(stderr,
                     "usage: bullet FILE, with a bar as `sinew-proof bench bullet` writes it\n");
        return 1;
    }

    // A world with implicit steps, held nodes by projection and one linearisation per step.
    btSoftBodyRigidBodyCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher(&configuration);
    btDbvtBroadphase broadphase;
    Solver deformables;
    btDeformableMultiBodyConstraintSolver constraints;
    constraints.setDeformableSolver(&deformables);
    btDeformableMultiBodyDynamicsWorld world(&dispatcher, &broadphase, &constraints, &configuration,
                                             &deformables);
    btVector3 gravity(0, 0, bar.gravity);
    world.setGravity(gravity);
    world.getWorldInfo().m_gravity = gravity;
    world.setImplicit(true);
    world.setUseProjection(true);
    world.setLineSearch(false);

    // The bar, its elasticity and its weight.
    std::unique_ptr<btSoftBody> body = make_body(bar, world.getWorldInfo());
    world.addSoftBody(body.get());
    btDeformableLinearElasticityForce elasticity(1, 1, 0, 0);
    elasticity.setYoungsModulus(bar.young);
    elasticity.setPoissonRatio(bar.poisson);
    btDeformableGravityForce weight(gravity);
    world.addForce(body.get(), &elasticity);
    world.addForce(body.get(), &weight);

    // Time the steps.
    for (int i = -bar.warm_up; i < bar.steps; i++) {
        double start = processor_seconds();
        world.stepSimulation(bar.step, 1, bar.step);
        if (i >= 0) {
            std::printf("%.9g\n", processor_seconds() - start);
        }
    }

    btVector3 end = tip(bar, *body);
    std::printf("tip %.9g %.9g %.9g\n", static_cast<double>(end.x()), static_cast<double>(end.y()),
                static_cast<double>(end.z()));
    world.removeSoftBody(body.get());
    return 0;
}
