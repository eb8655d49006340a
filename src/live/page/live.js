"use strict";
const source = new EventSource("events");
