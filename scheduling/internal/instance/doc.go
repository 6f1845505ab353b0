// Package instance states a problem in numbers.
//
// It owns three types. [Facts] are the problem and the policy, read and validated, before anything is decided.
// [Instance] is the problem in numbers: classes of pods, offers of each template, nodes with the room that they have
// left, limits and reservations, and the [LocationIndex] of all offers and nodes by the values of their labels.
// [Packing] is the problem once it is settled in which domains pods may be, e.g. two pods of a zone spread in each of
// three zones: parts of classes with their feasible sets, and the options and bins that the engine packs them onto.
//
// An instance and a packing are not changed once they are made. [Memory] keeps tables from one plan to the next, because
// most of a cluster stays as it is; no plan depends on its contents. The package does not choose domains or machines.
package instance
