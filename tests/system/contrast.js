// Texts whose contrast with what is behind them is below that of WCAG 2.2, level AA.
() => {
  const parts = (colour) => (colour.match(/[\d.]+/g) ?? []).map(Number);
  const luminance = (colour) => {
    const [r, g, b] = parts(colour).slice(0, 3).map((one) => {
      const share = one / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (parts(colour)[3] !== 0) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const faint = [];
  for (const element of document.querySelectorAll("body *")) {
    const said = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim());
    if (!said || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const [light, dark] = [luminance(style.color), luminance(behind(element))].sort((a, b) => b - a);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const ratio = (light + 0.05) / (dark + 0.05);
    if (ratio < (large ? 3 : 4.5)) faint.push(`${element.tagName}.${element.className} ${ratio.toFixed(2)}`);
  }
  return faint;
}
