// Package units tells what has to be together, and where it could be: the rules over domains and the
// limits on single nodes that the topology terms of pods come to, signatures of pods to which the same
// rules apply, the sites that these tell apart with what may be bought there, and units of pods that
// go to one machine because some have to be where others are.
package units
