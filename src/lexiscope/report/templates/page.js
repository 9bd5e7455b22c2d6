(function(){
var d=document,root=d.documentElement,$=function(s,e){return Array.prototype.slice.call((e||d).querySelectorAll(s))};
root.classList.remove('no-script');
var pages=$('.page'),tabs=$('.tabs a');
function show(){
var id=decodeURIComponent(location.hash.slice(1)),at=id&&d.getElementById(id),p=(at&&at.closest('.page'))||pages[0];
pages.forEach(function(x){x.hidden=x!==p});
tabs.forEach(function(t){if(t.hash==='#'+p.id)t.setAttribute('aria-current','page');else t.removeAttribute('aria-current')});
if(at&&at!==p){var f=at.closest('details');while(f){f.open=true;f=f.parentElement.closest('details')}at.scrollIntoView()}else scrollTo(0,0);
}
addEventListener('hashchange',show);show();
var toc=$('.toc a'),blocks=$('#results .block');
function spy(){var k=0;blocks.forEach(function(s,i){if(s.getBoundingClientRect().top<180)k=i});toc.forEach(function(a,i){a.classList.toggle('on',i===k)})}
addEventListener('scroll',spy,{passive:true});spy();
try{var kept=localStorage.getItem('mode');if(kept)root.dataset.mode=kept}catch(e){}
d.getElementById('mode').onclick=function(){
var dark=root.dataset.mode?root.dataset.mode==='dark':matchMedia('(prefers-color-scheme:dark)').matches;
root.dataset.mode=dark?'light':'dark';try{localStorage.setItem('mode',root.dataset.mode)}catch(e){}
};
var tip=d.getElementById('tip');
function over(e){
var g=e.target.closest&&e.target.closest('.hv');
if(!g){tip.hidden=true;return}
tip.textContent=g.getAttribute('aria-label');tip.hidden=false;
var b=g.getBoundingClientRect(),x=e.clientX||b.left+b.width/2,y=e.clientY||b.top;
tip.style.left=Math.max(8,Math.min(x+12,innerWidth-tip.offsetWidth-8))+'px';
tip.style.top=(y>tip.offsetHeight+24?y-tip.offsetHeight-12:y+20)+'px';
}
['pointermove','pointerdown','focusin'].forEach(function(n){d.addEventListener(n,over)});
addEventListener('keydown',function(e){
if(e.key==='Escape')tip.hidden=true;
var g=e.target.closest&&e.target.closest('.hv'),step={ArrowDown:1,ArrowRight:1,ArrowUp:-1,ArrowLeft:-1}[e.key];
if(g&&step){var all=$('.hv',g.closest('svg')),to=all[all.indexOf(g)+step];if(to){e.preventDefault();g.tabIndex=-1;to.tabIndex=0;to.focus()}}
});
var KEEP=['fill','opacity','stroke','stroke-width','stroke-dasharray','stroke-linecap','stroke-linejoin','paint-order','font-family','font-size','font-weight','text-anchor'];
function drawn(f){return $('svg',f).filter(function(s){return s.getBoundingClientRect().width})[0]}
function copy(svg){
var c=svg.cloneNode(true),a=$('*',svg),b=$('*',c),v=svg.viewBox.baseVal;
a.forEach(function(n,i){var s=getComputedStyle(n);b[i].setAttribute('style',KEEP.map(function(k){return k+':'+s.getPropertyValue(k)}).join(';'));['class','tabindex','role'].forEach(function(k){b[i].removeAttribute(k)})});
c.setAttribute('width',v.width);c.setAttribute('height',v.height);c.removeAttribute('class');
c.setAttribute('style','background:'+getComputedStyle(d.body).backgroundColor);
return new XMLSerializer().serializeToString(c);
}
function save(href,name){var a=d.createElement('a');a.href=href;a.download=name;d.body.appendChild(a);a.click();a.remove()}
$('[data-x]').forEach(function(b){b.onclick=function(){
var f=b.closest('figure'),svg=drawn(f),v=svg.viewBox.baseVal,kept=root.dataset.mode;
root.dataset.mode='light';var text=copy(svg);if(kept)root.dataset.mode=kept;else delete root.dataset.mode;
if(b.dataset.x==='pdf'){
var box=d.createElement('div');box.id='sheet';box.innerHTML=text;
var st=d.createElement('style');st.textContent='@page{size:'+v.width+'px '+v.height+'px;margin:0}@media print{body>*{display:none!important}body>#sheet{display:block!important}}';
d.head.appendChild(st);d.body.appendChild(box);var t=d.title;d.title=f.id;print();d.title=t;st.remove();box.remove();return;
}
if(b.dataset.x==='svg'){save(URL.createObjectURL(new Blob([text],{type:'image/svg+xml'})),f.id+'.svg');return}
var im=new Image();im.onload=function(){
var c=d.createElement('canvas'),x=c.getContext('2d');c.width=v.width*3;c.height=v.height*3;
x.fillStyle='#fff';x.fillRect(0,0,c.width,c.height);x.drawImage(im,0,0,c.width,c.height);
save(c.toDataURL('image/png'),f.id+'.png');
};im.src='data:image/svg+xml;charset=utf-8,'+encodeURIComponent(text);
}});
$('.copy').forEach(function(b){b.onclick=function(){
var old=b.textContent;function done(){b.textContent='Copied';setTimeout(function(){b.textContent=old},1500)}
function other(){var t=d.createElement('textarea');t.value=b.dataset.apa;d.body.appendChild(t);t.select();d.execCommand('copy');t.remove();done()}
if(navigator.clipboard&&isSecureContext)navigator.clipboard.writeText(b.dataset.apa).then(done,other);else other();
}});
$('th[data-sort]').forEach(function(h){h.querySelector('button').onclick=function(){
var t=h.closest('table'),k=h.cellIndex,up=h.getAttribute('aria-sort')==='descending',rows=$('tbody tr:not(.pin)',t);
$('th[data-sort]',t).forEach(function(o){o.removeAttribute('aria-sort')});h.setAttribute('aria-sort',up?'ascending':'descending');
function v(r){var c=r.cells[k],x=c.dataset.v;return x===undefined?c.textContent:x===''?(up?1/0:-1/0):+x}
rows.sort(function(a,b){a=v(a);b=v(b);return(a<b?-1:a>b?1:0)*(up?1:-1)}).forEach(function(r){r.parentNode.insertBefore(r,$('tr.pin',r.parentNode)[0]||null)});
}});
$('.pick').forEach(function(p){
p.hidden=false;var n=p.previousElementSibling;if(n)n.hidden=true;
p.onchange=function(e){var v=e.target.value;$('.pick select').forEach(function(s){
if(!$('option',s).some(function(o){return o.value===v}))return;
s.value=v;$('[data-p]',s.closest('.tb')).forEach(function(r){r.hidden=r.dataset.p!==v});
})};
});
})();
