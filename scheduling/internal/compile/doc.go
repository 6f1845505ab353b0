// Package compile turns a problem into numbers: the compiled problem holds the classes of
// pods, what may be bought for them, the nodes that run with the room they have left,
// limits and reservations, and the index of all locations at which pods could be, with the axes
// in which these differ. What later stages work out for a compiled problem they keep as its
// notes; compile knows none of them. What one solve has read is kept for the next.
package compile
