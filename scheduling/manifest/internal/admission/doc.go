// Package admission gives objects that have not been through the API server's admission its
// defaults: pods the priority of their class, the overhead of their runtime class, defaults of
// LimitRanges and tolerations of GKE's ComputeClasses, and claims the default class.
package admission
