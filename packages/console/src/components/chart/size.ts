/** Size of the image in which curves are drawn; it is stretched to the size of the chart. */
export const WIDTH = 240;
export const HEIGHT = 48;
