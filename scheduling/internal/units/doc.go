// Package units states the topology terms of pods as rules over domains and limits per node, and groups pods into units.
//
// A unit is the pods that must share a node because of required affinity per host, or else a single pod. A
// [TopologySignature] is equal for units to which the same rules and node constraints apply; it has the sites that these
// distinguish, e.g. zones, with the cost of the supply at each. The package does not choose domains.
package units
