// Package compile turns a problem into numbers: the compiled problem holds the classes of
// pods, what may be bought for them, the nodes that run with the room they have left,
// limits and reservations, and the index of all locations at which pods could be, with the axes
// in which these differ. What one solve has read is kept for the next.
package compile
