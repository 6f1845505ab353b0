// Package certificate proves lower bounds anew from their certificates, see
// [certificate.Certificate].
package certificate

// A map of this package's files
//
//	claim        a bound that is to be proven, by which kind of certificate, and case by case
//	proof        what pods are worth, and what running nodes hold of that
//	machines     that no machine holds more worth than it costs, wherever it is
//	load         pods that a machine may hold together
//	worth, pattern  what a load is worth at most by a vector, and by the patterns of its pods
//	cover        the choices of whole machines
//	dimensions, measures  resources, and what is counted beside them
//	spread       pods of which only so many may be in each domain
//	in_domain    what pods are worth in a domain
//	balance      domains that owe each other for pods
//	entangled    constraints that are about each other's pods
