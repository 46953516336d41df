// A bare start of Node.
