// What nodes that are not as the others (models/hardware/exceptions.h) make of a step.
//
// Collectives end on all ranks together, so that ranks of equal work move at the pace of the
// slowest: the step of a cluster whose nodes differ is taken as that of one whose nodes all compute
// as slowly as the slowest at that, and send as slowly as the slowest at that. The ranks of each
// stage of a pipeline have their own slowest. Where one node is the slowest in all that it does
// this is exact. Where nodes are slow in different parts it is an upper bound: what stays in a node
// (hpZ's gathers, qgZ's first hop) a node with slow GPUs has at full rate. In random clusters it
// was up to a third above the message engine, which gives every node its own speeds
// (tests/sim/exceptions_test.cc).
//
// Of pipelines that is no bound: interleaved ones on an oversubscribed switch took up to 8 % longer
// in the message engine, where stages drift apart.
//
// Not modelled: a stage whose nodes are all better than the rest is taken as no better.
#pragma once

#include "models/hardware/hardware.h"
#include "models/program/step_program.h"
#include "sim/network.h"

namespace zerosim {

// Notes the nodes' speeds in `*network`, and slows its classes of links to the slowest of each.
void AddExceptions(const ClusterSpec& cluster, NetworkModel* network);

// The kernels of each class of ranks at the pace of its slowest node, and all of them at
// `kernel_time` of their time (ClusterSpec).
void SlowKernels(const NetworkModel& network, double kernel_time, StepProgram* program);

}  // namespace zerosim
