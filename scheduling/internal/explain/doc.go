// Package explain says why pods have no place, counted over all offers and nodes, and which smallest changes would place
// them. It also says why a launch has its instance type and not a cheaper one.
//
// It judges one more pod after a plan is carried out, and changes nothing. Whether a proposed change works is not known
// here: package provisioning tries each.
package explain
