// Package certificate proves lower bounds anew from their certificates, see
// [scheduling.Certificate].
package certificate

// A map of this package's files
//
//	claim        a bound that is to be proven, by which kind of certificate, and case by case
//	proof        what pods are worth, and what running nodes hold of that
//	machines     that no machine holds more worth than it costs, wherever it is
//	load, pattern  what a machine may hold by a vector, and by the patterns of its pods
//	cover        the choices of whole machines
//	measures     what is counted beside resources
//	spread       pods of which only so many may be in each domain
//	in_domain    what pods are worth in a domain
//	balance      domains that owe each other for pods
//	entangled    constraints that are about each other's pods
