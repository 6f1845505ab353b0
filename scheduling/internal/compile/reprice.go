package compile

// ManyClasses is from how many classes on a search for machines takes long enough for it
// to be worth while to end one that leads nowhere.
const ManyClasses = 200
